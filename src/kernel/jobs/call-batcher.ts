/**
 * Batches concurrent calls. The first call runs immediately; calls that arrive while a batch runs form the next batch.
 * A call for which `runBatch` returns nothing runs singly, and so does every call of a batch that failed: a call that
 * must wait or cannot succeed does not affect the others.
 */
export function batchCalls<In, Out>(
  runBatch: (items: In[]) => Promise<(Out | undefined)[]>,
  runOne: (item: In) => Promise<Out>,
): (item: In) => Promise<Out> {
  let waiting: { item: In; resolve: (out: Out | Promise<Out>) => void }[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    // Calls of the same turn of the event loop join the first batch.
    await null;
    while (waiting.length > 0) {
      const calls = waiting;
      waiting = [];
      const results = await runBatch(calls.map(({ item }) => item)).catch(() => []);
      for (const [i, { item, resolve }] of calls.entries()) resolve(results[i] ?? runOne(item));
    }
    running = false;
  }

  return (item) =>
    new Promise((resolve) => {
      waiting.push({ item, resolve });
      if (!running) void run();
    });
}
