import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TOKENS, type TokenCompanies } from './auth.guard.js';
import { Case, Company, Event, Interaction } from './entities.js';
import { InteractionsController } from './interactions/interactions.controller.js';
import { InteractionsService } from './interactions/interactions.service.js';

type Options = { connection: { host: string; user: string; database: string }; tokens: TokenCompanies };

/** As many connections as the service and the baselines have for short statements and for lists. */
const POOL_SIZE = 12;

@Module({})
class AppModule {}

export function createAppModule({ connection, tokens }: Options): DynamicModule {
  const entities = [Company, Case, Interaction, Event];
  const { host, user, database } = connection;
  return {
    module: AppModule,
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', host, username: user, database, entities, poolSize: POOL_SIZE }),
      TypeOrmModule.forFeature(entities),
    ],
    controllers: [InteractionsController],
    providers: [InteractionsService, { provide: TOKENS, useValue: tokens }],
  };
}
