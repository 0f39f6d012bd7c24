import type { FastifyInstance } from 'fastify';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, type MetricObject, Registry } from 'prom-client';
import type { Database } from '../../kernel/database/database.ts';
import type { DeliveryCounters } from '../../kernel/jobs/delivery-counters.ts';
import { longStatement } from '../../kernel/sql/statement.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import type { Evictions } from './evictions.ts';
import { LabelledHistogram, type Timing } from './histogram.ts';
import { perRoute } from './route-config.ts';
import type { UnfinishedBodies } from './unfinished-bodies.ts';
import type { UnreadAnswers } from './unread-responses.ts';

const dueMessages = longStatement(
  'messages.due',
  `SELECT channel, count(*)::int AS count FROM messages WHERE state IN ('scheduled', 'sending') AND due_at <= $1 GROUP BY channel`,
);

const dueMeetings = longStatement(
  'meetings.due',
  `SELECT count(*)::int AS count FROM meetings WHERE state = 'pending' AND due_at <= $1`,
);

const dueWebhooks = longStatement(
  'webhook_deliveries.due',
  `SELECT count(*)::int AS count FROM webhook_deliveries WHERE state = 'waiting' AND due_at <= $1`,
);

const failingWebhooks = longStatement(
  'webhook_endpoints.failing_now',
  `SELECT count(*)::int AS count FROM webhook_endpoints WHERE state = 'failing' AND removed_at IS NULL`,
);

type DueRow = { channel: string; count: number };

/** Where several processes answer requests: is told how to ask for those of this one, gives how to ask for all. */
export type GatherMetrics = (own: () => Promise<MetricObject[]>) => () => Promise<MetricObject[][]>;

export type MetricsOptions = {
  db: Database;
  clock: Clock;
  outcomes: DeliveryCounters;
  gatherMetrics: GatherMetrics | undefined;
  held: { bodies: UnfinishedBodies; answers: UnreadAnswers; evictions: Evictions };
  logStalledSeconds: () => Promise<number>;
};

/** Prometheus: requests, latency by route, statements, the pool, work that is due, the process. */
export function metrics(app: FastifyInstance, options: MetricsOptions): void {
  const { db, clock, outcomes, gatherMetrics, held, logStalledSeconds } = options;
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectDefaultMetrics({ register: registry });

  const latency = new LabelledHistogram(
    'http_request_duration_seconds',
    'Time to answer by method and route.',
    registry,
  );
  const answers: { labels: { method: string; route: string }; byStatus: Map<number, number> }[] = [];
  const answersOf = perRoute((method, url) => {
    const labels = { method, route: url ?? 'none' };
    const byStatus = new Map<number, number>();
    answers.push({ labels, byStatus });
    return { byStatus, took: latency.part(labels) };
  });
  new Counter({
    name: 'http_requests_total',
    help: 'Answers by method, route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    registers,
    collect() {
      this.reset();
      for (const { labels, byStatus } of answers) {
        for (const [status, count] of byStatus) this.inc({ ...labels, status }, count);
      }
    },
  });
  const statements = new LabelledHistogram(
    'db_statement_duration_seconds',
    'Time of a statement by name, with the wait for a connection.',
    registry,
  );
  const byStatement = new Map<string, Timing>();
  db.onStatement = (name, seconds) => {
    const known = byStatement.get(name) ?? statements.part({ statement: name });
    byStatement.set(name, known);
    known.add(seconds);
  };
  const sharing = { done: new Map<string, number>(), failed: new Map<string, number>() };
  db.onBatch = (statement, count, done) => {
    const counts = done ? sharing.done : sharing.failed;
    counts.set(statement, (counts.get(statement) ?? 0) + count);
  };
  new Counter({
    name: 'db_batched_requests_total',
    help: 'Requests that had one statement with others, and whether that did for them.',
    labelNames: ['statement', 'outcome'] as const,
    registers,
    collect() {
      this.reset();
      for (const [outcome, counts] of Object.entries(sharing)) {
        for (const [statement, count] of counts) this.inc({ statement, outcome }, count);
      }
    },
  });
  new Gauge({
    name: 'db_pool_connections',
    help: 'Connections to the database, and callers waiting for one.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      for (const [state, count] of Object.entries(db.connections)) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'http_unfinished_request_bytes',
    help: 'Bytes held of request bodies that have not arrived completely.',
    registers,
    collect() {
      this.set(held.bodies.bytes);
    },
  });
  new Gauge({
    name: 'http_unread_answer_bytes',
    help: 'Bytes of answers that peers have not taken.',
    registers,
    collect() {
      this.set(held.answers.bytes);
    },
  });
  new Counter({
    name: 'http_connections_evicted_total',
    help: 'Connections closed because the process held too much for slow peers.',
    labelNames: ['reason'] as const,
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(held.evictions.counts)) this.inc({ reason }, count);
    },
  });
  new Gauge({
    name: 'messages_due',
    help: 'Messages whose time has come and that have not gone out.',
    labelNames: ['channel'] as const,
    aggregator: 'max',
    registers,
    async collect() {
      this.set({ channel: 'email' }, 0);
      this.set({ channel: 'sms' }, 0);
      // While the database is away the other figures matter most.
      const rows = await db.queryRows<DueRow>(dueMessages, [toSql(clock())]).catch(() => undefined);
      if (!rows) this.reset();
      for (const { channel, count } of rows ?? []) this.set({ channel }, count);
    },
  });
  new Gauge({
    name: 'meetings_due',
    help: 'Meetings that a provider has yet to learn of something.',
    aggregator: 'max',
    registers,
    async collect() {
      const row = await db.queryFirst<{ count: number }>(dueMeetings, [toSql(clock())]).catch(() => undefined);
      if (row) this.set(row.count);
      else this.reset();
    },
  });
  new Gauge({
    name: 'webhook_deliveries_waiting',
    help: 'Events on their way to webhook endpoints, those between two attempts included.',
    aggregator: 'max',
    registers,
    async collect() {
      const row = await db.queryFirst<{ count: number }>(dueWebhooks, [toSql(clock())]).catch(() => undefined);
      if (row) this.set(row.count);
      else this.reset();
    },
  });
  new Gauge({
    name: 'webhook_endpoints_failing',
    help: 'Webhook endpoints that nothing is sent to until somebody resumes them.',
    aggregator: 'max',
    registers,
    async collect() {
      const row = await db.queryFirst<{ count: number }>(failingWebhooks, []).catch(() => undefined);
      if (row) this.set(row.count);
      else this.reset();
    },
  });
  new Gauge({
    name: 'event_log_stalled_seconds',
    help: 'For how long followers of the event log have been shown nothing new because of one open transaction.',
    aggregator: 'max',
    registers,
    async collect() {
      const seconds = await logStalledSeconds().catch(() => undefined);
      if (seconds === undefined) this.reset();
      else this.set(seconds);
    },
  });
  const ended = (outcome: string, help: string) =>
    new Counter({ name: `messages_${outcome}_total`, help, labelNames: ['channel', 'kind'] as const, registers });
  const counters = {
    sent: ended('sent', 'Messages that this process has sent.'),
    failed: ended('failed', 'Messages that this process has given up.'),
  };
  outcomes.onOutcome = (outcome, labels) => counters[outcome].inc(labels);
  const webhooks = new Counter({
    name: 'webhooks_ended_total',
    help: 'Deliveries of webhooks that this process has made or given up.',
    labelNames: ['outcome'] as const,
    registers,
  });
  outcomes.onWebhook = (outcome) => webhooks.inc({ outcome });

  app.addHook('onResponse', (request, reply, done) => {
    const { byStatus, took } = answersOf(request);
    byStatus.set(reply.statusCode, (byStatus.get(reply.statusCode) ?? 0) + 1);
    took.add(reply.elapsedTime / 1000);
    done();
  });

  const gather = gatherMetrics?.(() => registry.getMetricsAsJSON());
  const read = async () => (gather ? AggregatorRegistry.aggregate(await gather()).metrics() : registry.metrics());
  // Strangers may ask, and it is never refused: however many do, the database is asked once at a time.
  let reading: Promise<string> | undefined;
  app.get('/metrics', { config: { access: 'public' } }, async (_request, reply) => {
    reply.type(registry.contentType);
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  });
}
