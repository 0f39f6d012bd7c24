import 'reflect-metadata';
import { ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createAppModule } from './app.module.js';

/** What a team would write with NestJS and TypeORM, in the way that their documents show. */

const options = JSON.parse(process.argv[2] ?? '{}');
const app = await NestFactory.create(createAppModule(options), { logger: ['error', 'warn'] });
app.useGlobalPipes(new ValidationPipe({ transform: true }));
await app.listen(0, '127.0.0.1');
process.send?.({ port: Number(new URL(await app.getUrl()).port) });
process.once('disconnect', () => process.exit());
