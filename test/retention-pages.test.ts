import assert from 'node:assert/strict';
import { test } from 'node:test';
import { purgeTestMessages } from '../src/cases/appointments/messages/test-messages/statements.sql.ts';
import type { Query } from '../src/kernel/sql/statement.ts';
import { purgeDeliveries } from '../src/webhooks/deliveries/statements.sql.ts';
import { purgeAlerts } from '../src/webhooks/endpoints/alerts.sql.ts';
import { startApp } from './harness/app.ts';

/** What is deleted every hour is found by an index, so the hour costs as much as there is to delete. */

const app = await startApp();
const ROWS = 20_000;
const OLD_ROWS = 50;
const OLD = '2026-01-01T00:00:00Z';
/** A row, its entries in up to seven indexes, the pages above them and those that are written. */
const MAX_PAGES_PER_ROW = 60;

const company = await app.company();
const endpointId = '01a1e009-4583-7000-945f-6527608ffeb8';
await app.sql(
  `INSERT INTO webhook_endpoints (company_id, id, url, types, state, position, created_at, updated_at)
   VALUES ($1, $2, 'https://receiver.example', '{*}', 'active', 0, now(), now())`,
  [company.companyId, endpointId],
);
const endedAt = `CASE WHEN n <= ${OLD_ROWS} THEN timestamptz '2025-12-31' ELSE now() END`;

const TABLES: [table: string, insert: string, values: string[], purge: () => Query][] = [
  [
    'webhook_deliveries',
    `INSERT INTO webhook_deliveries (company_id, endpoint_id, position, event_type, record_id, state, ready, due_at, ended_at, created_at)
     SELECT $1, $2, n, 'interaction.created', gen_random_uuid(), 'delivered', false, now(), ${endedAt}, now()`,
    [company.companyId, endpointId],
    () => purgeDeliveries({ ended_before: OLD, max_per_endpoint: 500 }),
  ],
  [
    'webhook_notices',
    `INSERT INTO webhook_notices (company_id, endpoint_id, id, kind, state, due_at, ended_at)
     SELECT $1, $2, gen_random_uuid(), 'failing', 'told', now(), ${endedAt}`,
    [company.companyId, endpointId],
    () => purgeAlerts({ ended_before: OLD }),
  ],
  [
    'test_messages',
    `INSERT INTO test_messages (company_id, id, message, channel, recipient, content, state, due_at, ended_at, created_at)
     SELECT $1, gen_random_uuid(), 'reminder', 'sms', '+441632960000', 'x', 'sent', now(), ${endedAt}, now()`,
    [company.companyId],
    () => purgeTestMessages({ ended_before: OLD }),
  ],
];

for (const [table, insert, values, purge] of TABLES) {
  test(`the hourly end of old ${table} reads as much as there is to delete`, async () => {
    await app.sql(`${insert} FROM generate_series(1, ${ROWS}) n`, values);
    await app.sql(`ANALYZE ${table}`);
    const count = async () => Number((await app.sql<{ n: string }>(`SELECT count(*) AS n FROM ${table}`))[0]?.n);
    const { statement, values: inputs } = purge();
    const pages = async () => {
      const [row] = await app.sql<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement.text}`,
        inputs,
      );
      const plan = row?.['QUERY PLAN'][0].Plan ?? {};
      return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
    };
    const read = await pages();
    assert.equal(await count(), ROWS - OLD_ROWS);
    assert.ok(read < OLD_ROWS * MAX_PAGES_PER_ROW, `${read} pages were read to delete ${OLD_ROWS} rows`);
    const readInVain = await pages();
    assert.equal(await count(), ROWS - OLD_ROWS);
    assert.ok(readInVain < 100, `${readInVain} pages were read, and nothing is old`);
  });
}
