import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createDemo } from '../company/demo.ts';
import { makeDurableFolder } from '../kernel/durable-file.ts';
import { systemClock } from '../kernel/time/time.ts';
import { type Command, UsageError } from './command.ts';
import { withDatabase } from './database.ts';

export const commands: Command[] = [
  {
    name: 'demo',
    summary: 'Make a demonstration company',
    description: 'With advisers, a case, customers, tags and a token that may do everything in it. Not for production.',
    flags: {
      file: { type: 'string', value: 'path', description: 'Where to write it down; DATA_DIR/demo.json by default.' },
      url: { type: 'string', value: 'url', description: 'Where the service listens; by HOST and PORT by default.' },
    },
    examples: ['demo', 'demo --file demo.json --url https://records.example'],
    run: async ({ config, flags }) => {
      const file = resolve(typeof flags.file === 'string' ? flags.file : join(config.DATA_DIR, 'demo.json'));
      const baseUrl = typeof flags.url === 'string' ? flags.url : `http://${config.HOST}:${config.PORT}`;
      const taken = await access(file).then(
        () => true,
        () => false,
      );
      if (taken) throw new UsageError(`${file} is there already; --file names another one.`, 'demo');
      return withDatabase(config, async (db) => {
        await makeDurableFolder(dirname(file), { mode: 0o700 });
        const demo = await createDemo(db, systemClock, { baseUrl, file });
        return {
          json: JSON.stringify(demo),
          text: `A demonstration company was made; ${file} holds its token and identifiers.`,
        };
      });
    },
  },
];
