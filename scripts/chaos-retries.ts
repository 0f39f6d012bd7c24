import { sendWithRetries } from '../test/harness/retries.ts';

/** Sends 1,000 writes of all kinds three times each to two services, half of the requests cut off: each is done once. */

const result = await sendWithRetries(Number(process.argv[2] ?? 1_000));
console.table([result]);
if (result.performed !== result.writes) process.exit(1);
