import type pg from 'pg';

/** Stores for how many days events are kept; without a number they are kept for ever. Only the owner may do this. */
export async function setEventRetention(client: pg.Client, days: number | undefined): Promise<void> {
  await client.query('DELETE FROM event_retention WHERE days IS DISTINCT FROM $1', [days ?? null]);
  if (days === undefined) return;
  await client.query('INSERT INTO event_retention (days) VALUES ($1) ON CONFLICT DO NOTHING', [days]);
}
