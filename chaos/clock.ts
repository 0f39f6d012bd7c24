import { existsSync, globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { commandOutput } from '../test/harness/command-line.ts';
import { type Running, startProcess, temporaryDirectory, urlOf } from '../test/harness/service.ts';
import { type Answered, Line } from './exchange.ts';
import { type Figures, fault, noFigures, type Proof, Skipped, until } from './proof.ts';

/**
 * The clock of the service's machine jumps, that of the database does not: writes go on, a key still gives its answer,
 * and the log keeps the order in which things happened. Jumps of workers and clock changes are in `messages`.
 */

const JUMPS_HOURS = [0, 20, 0, -20, 0, 1, -1];
const WRITES = 20;

export const clock: Proof = {
  name: 'clock',
  about: 'the clock of the service jumps forth and back',
  async run({ short, progress }): Promise<Figures> {
    const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');
    if (library === undefined || !existsSync(library)) {
      throw new Skipped('libfaketime is not there; chaos/packages.sh installs it on Debian');
    }
    const figures = noFigures();
    const home = await temporaryDirectory();
    const server = await startBundledPostgres({ dataDir: join(home.path, 'database'), log: () => {} });
    const DATABASE_URL = urlOf(server.connection);
    const offset = join(home.path, 'offset');
    await writeFile(offset, '+0');
    let service: Running | undefined;
    try {
      service = await startProcess({
        DATABASE_URL,
        DATA_DIR: home.path,
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: offset,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      });
      const type = (...args: string[]) => commandOutput({ DATABASE_URL }, ...args);
      await type('company', 'create', '--name', 'Clock');
      const caseId = await type('case', 'create', '--reference', 'Clock', '--only', 'id');
      const scopes = 'interactions:read,interactions:write,events:read';
      const line = new Line(
        service.url,
        await type('key', 'create', '--name', 'clock', '--scope', scopes, '--only', 'key'),
      );
      const path = `/cases/${caseId}/interactions`;
      const send = (key: string) =>
        line.send({ method: 'POST', path, body: { type: 'phone', notes: key }, headers: { 'idempotency-key': key } });
      const answers = new Map<string, string>();

      for (const hours of short ? JUMPS_HOURS.slice(0, 4) : JUMPS_HOURS) {
        progress(`the clock is ${hours} hours off`);
        await writeFile(offset, `${hours < 0 ? '' : '+'}${hours}h`);
        await until('the service has the new time', 10, async () => {
          const { headers } = (await line.send({ method: 'GET', path: '/healthz' })) as Answered;
          return Math.abs(Date.parse(String(headers.date)) - Date.now() - hours * 3_600_000) < 10_000;
        });
        for (let i = 0; i < WRITES; i++) {
          const key = `c-${answers.size}`;
          const answer = await send(key);
          figures.requests++;
          if (answer.status === 200) answers.set(key, (answer as Answered).text);
          else fault(figures, `${hours} hours off: ${JSON.stringify(answer)}`);
        }
        for (const [key, text] of answers) {
          const again = (await send(key)) as Answered;
          figures.requests++;
          if (again.status !== 200 || again.text !== text) fault(figures, `${key} was not answered as before`);
        }
        figures.rounds++;
      }
      figures.acknowledged = answers.size;
      const list: { notes: string }[] = await line.get(path);
      const events: { after: { notes: string } }[] = await line.get('/events?types=interaction.created&limit=500');
      const order = events.map(({ after }) => after.notes);
      figures.lost = [...answers.keys()].filter((key) => !list.some(({ notes }) => notes === key)).length;
      figures.twice = list.length - new Set(list.map(({ notes }) => notes)).size;
      figures.halfWritten = Math.abs(list.length - order.length);
      if (order.join() !== [...answers.keys()].join()) fault(figures, 'the log is not in the order of what happened');
      line.close();
    } finally {
      await service?.stop();
      await server.stop();
      await home.remove();
    }
    return figures;
  },
};
