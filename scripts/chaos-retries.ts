import { sendWithRetries } from '../test/harness/retries.ts';

/** 1,000 creates, each sent three times over two services, half of the requests cut off: exactly 1,000 records. */

const found = await sendWithRetries(Number(process.argv[2] ?? 1_000));
console.table([found]);
if (found.records !== found.creates) process.exit(1);
