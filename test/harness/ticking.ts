/** A clock that moves on a little with every reading, so that no two readings are equal. */
export function ticking(read: () => Temporal.Instant): () => Temporal.Instant {
  let looks = 0;
  return () => read().add({ microseconds: ++looks });
}
