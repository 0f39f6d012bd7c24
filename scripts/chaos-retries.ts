import { sendWithRetries } from '../test/harness/retries.ts';

/** Sends 1,000 creates three times each to two services, with half of the requests cut off: exactly 1,000 records. */

const result = await sendWithRetries(Number(process.argv[2] ?? 1_000));
console.table([result]);
if (result.records !== result.creates) process.exit(1);
