import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { urlOf } from '../../test/harness/service.ts';
import { openEnvironment } from '../environment.ts';
import { COMPANIES, seedLargeCompany, sizeAt } from './seed.ts';

/**
 * Keeps a database with large companies for experiments: `node bench/company/database.ts --dir <folder> --scale 0.01`.
 * The first run fills the folder; a later one only applies new migrations. Prints what is needed to use it, and runs
 * until it is interrupted.
 */

const { values } = parseArgs({ options: { dir: { type: 'string' }, scale: { type: 'string', default: '0.01' } } });
if (values.dir === undefined) throw new Error('Pass --dir <folder>. The folder may be new.');
const { connection, databasePid, companies } = await openEnvironment({
  companies: COMPANIES,
  dir: values.dir,
  seed: (client, seeded) =>
    seedLargeCompany(client, seeded, sizeAt(Number(values.scale)), (step) => console.error(`Seeding ${step} …`)),
});
console.log(JSON.stringify({ url: urlOf(connection), pid: databasePid, largest: companies[0] }));
// Waiting for a signal does not keep a process alive; the environment closes when one comes.
setInterval(() => {}, 60_000);
await once(process, 'SIGINT');
