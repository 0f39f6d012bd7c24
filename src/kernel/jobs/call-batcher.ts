/**
 * Gathers calls: the first goes at once, those that come while it is under way go together with the next. Nobody waits
 * for time to pass, and under load one statement does for many. What `work` passes over, or all where it fails, goes
 * `alone`, so that one that must wait, or cannot succeed, takes nobody along.
 */
export function batchCalls<In, Out>(
  work: (items: In[]) => Promise<(Out | undefined)[]>,
  alone: (item: In) => Promise<Out>,
): (item: In) => Promise<Out> {
  let waiting: { item: In; resolve: (out: Out | Promise<Out>) => void }[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    // The calls of one turn of the event loop belong together.
    await null;
    while (waiting.length > 0) {
      const calls = waiting;
      waiting = [];
      const results = await work(calls.map(({ item }) => item)).catch(() => []);
      for (const [i, { item, resolve }] of calls.entries()) resolve(results[i] ?? alone(item));
    }
    running = false;
  }

  return (item) =>
    new Promise((resolve) => {
      waiting.push({ item, resolve });
      if (!running) void run();
    });
}
