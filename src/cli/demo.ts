import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createDemo } from '../company/demo.ts';
import { readDemo } from '../company/demo-file.ts';
import { makeDurableFolder } from '../kernel/durable-file.ts';
import { systemClock } from '../kernel/time/time.ts';
import { type Command, UsageError } from './command.ts';
import { withDatabase } from './database.ts';

export const commands: Command[] = [
  {
    name: 'demo',
    summary: 'Create a demonstration company',
    description: 'With advisers, a case, customers, tags and a token with all scopes. Not for production.',
    flags: {
      file: {
        type: 'string',
        placeholder: 'path',
        description: 'File for its token and identifiers; DATA_DIR/demo.json by default.',
      },
      url: {
        type: 'string',
        placeholder: 'url',
        description: 'URL of the service; by default PUBLIC_URL, or from HOST and PORT.',
      },
    },
    examples: ['demo', 'demo --file demo.json --url https://records.example'],
    run: async ({ config, terminal, flags }) => {
      const file = resolve(typeof flags.file === 'string' ? flags.file : join(config.DATA_DIR, 'demo.json'));
      const localUrl = `http://${config.HOST === '0.0.0.0' ? '127.0.0.1' : config.HOST}:${config.PORT}`;
      const baseUrl = typeof flags.url === 'string' ? flags.url : (config.PUBLIC_URL ?? localUrl);
      const fileExists = await access(file).then(
        () => true,
        () => false,
      );
      if (fileExists && (await readDemo(file)) !== 'removed')
        throw new UsageError(`${file} already exists. Choose another file with --file.`, 'demo');
      return withDatabase({ config, terminal }, async (db) => {
        await makeDurableFolder(dirname(file), { mode: 0o700 });
        const demo = await createDemo(db, systemClock, { baseUrl, file });
        return {
          json: JSON.stringify(demo),
          text: `A demonstration company was created; ${file} contains its token and identifiers.`,
        };
      });
    },
  },
];
