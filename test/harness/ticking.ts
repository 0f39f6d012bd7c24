/** The same time and a little more with every look at it, as clocks have it: no two looks give the same. */
export function ticking(read: () => Temporal.Instant): () => Temporal.Instant {
  let looks = 0;
  return () => read().add({ microseconds: ++looks });
}
