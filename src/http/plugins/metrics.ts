import type { FastifyInstance } from 'fastify';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, type MetricObject, Registry } from 'prom-client';
import type { Database } from '../../kernel/database/database.ts';
import type { DeliveryCounters } from '../../kernel/jobs/delivery-counters.ts';
import type { DatabaseGauge } from '../../kernel/metrics.ts';
import type { Clock } from '../../kernel/time/time.ts';
import type { Evictions } from './evictions.ts';
import { type DurationHistogram, LabelledHistogram } from './histogram.ts';
import { perRoute } from './route-config.ts';
import type { UnfinishedBodies } from './unfinished-bodies.ts';
import type { UnreadResponses } from './unread-responses.ts';

/**
 * Used when several processes serve requests. Gets the function that reads the metrics of this process, and returns
 * the function that reads the metrics of all processes.
 */
export type GatherMetrics = (readOwn: () => Promise<MetricObject[]>) => () => Promise<MetricObject[][]>;

type MetricsOptions = {
  db: Database;
  clock: Clock;
  deliveryCounters: DeliveryCounters;
  gatherMetrics: GatherMetrics | undefined;
  held: { bodies: UnfinishedBodies; responses: UnreadResponses; evictions: Evictions };
  /** Figures of the features. */
  gauges: readonly DatabaseGauge[];
};

/** Gauges of prom-client whose names end like those of counters. Each has another metric with the same figures by type. */
const MISNAMED_TOTALS = ['handles', 'requests', 'resources'].map((kind) => `nodejs_active_${kind}_total`);

/** Prometheus metrics: requests, statements, the pool, memory held for slow peers, due work, the process. */
export function metrics(app: FastifyInstance, options: MetricsOptions): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED_TOTALS) registry.removeSingleMetric(name);
  requestMetrics(app, registry);
  databaseMetrics(options.db, registry);
  slowPeerMetrics(options.held, registry);
  deliveryMetrics(options.deliveryCounters, registry);
  for (const gauge of options.gauges) databaseGauge(gauge, options, registry);

  const gather = options.gatherMetrics?.(() => registry.getMetricsAsJSON());
  const collect = async () => (gather ? AggregatorRegistry.aggregate(await gather()).metrics() : registry.metrics());
  // The route is public and exempt from load shedding, so concurrent requests share one collection.
  let collecting: Promise<string> | undefined;
  app.get('/metrics', { config: { access: 'public' } }, async (_request, reply) => {
    reply.type(registry.contentType);
    collecting ??= collect().finally(() => {
      collecting = undefined;
    });
    return collecting;
  });
}

function requestMetrics(app: FastifyInstance, registry: Registry): void {
  const durations = new LabelledHistogram(
    'http_request_duration_seconds',
    'Time from request to response, by method and route.',
    registry,
  );
  const routes: { labels: { method: string; route: string }; countByStatus: Map<number, number> }[] = [];
  const metricsOf = perRoute((method, url) => {
    const labels = { method, route: url ?? 'none' };
    const countByStatus = new Map<number, number>();
    routes.push({ labels, countByStatus });
    return { countByStatus, duration: durations.withLabels(labels) };
  });
  new Counter({
    name: 'http_requests_total',
    help: 'Responses by method, route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, countByStatus } of routes) {
        for (const [status, count] of countByStatus) this.inc({ ...labels, status }, count);
      }
    },
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { countByStatus, duration } = metricsOf(request);
    countByStatus.set(reply.statusCode, (countByStatus.get(reply.statusCode) ?? 0) + 1);
    duration.add(reply.elapsedTime / 1000);
    done();
  });
}

function databaseMetrics(db: Database, registry: Registry): void {
  const durations = new LabelledHistogram(
    'db_statement_duration_seconds',
    'Time of a statement by name, including the wait for a connection.',
    registry,
  );
  const durationByStatement = new Map<string, DurationHistogram>();
  db.onStatement = (name, seconds) => {
    const duration = durationByStatement.get(name) ?? durations.withLabels({ statement: name });
    durationByStatement.set(name, duration);
    duration.add(seconds);
  };
  const batched = { done: new Map<string, number>(), failed: new Map<string, number>() };
  db.onBatch = (statement, count, done) => {
    const counts = done ? batched.done : batched.failed;
    counts.set(statement, (counts.get(statement) ?? 0) + count);
  };
  new Counter({
    name: 'db_batched_requests_total',
    help: 'Requests served by a batched statement, by outcome.',
    labelNames: ['statement', 'outcome'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, counts] of Object.entries(batched)) {
        for (const [statement, count] of counts) this.inc({ statement, outcome }, count);
      }
    },
  });
  new Gauge({
    name: 'db_pool_connections',
    help: 'Connections to the database by state, and requests that wait for one.',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(db.connections)) this.set({ state }, count);
    },
  });
}

function slowPeerMetrics({ bodies, responses, evictions }: MetricsOptions['held'], registry: Registry): void {
  new Gauge({
    name: 'http_unfinished_request_bytes',
    help: 'Bytes held of request bodies that have not arrived completely.',
    registers: [registry],
    collect() {
      this.set(bodies.bytes);
    },
  });
  new Gauge({
    name: 'http_unread_response_bytes',
    help: 'Bytes of responses that peers have not read.',
    registers: [registry],
    collect() {
      this.set(responses.bytes);
    },
  });
  new Counter({
    name: 'http_connections_evicted_total',
    help: 'Connections closed because the process held too much for slow peers, by reason.',
    labelNames: ['reason'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(evictions.counts)) this.inc({ reason }, count);
    },
  });
}

function deliveryMetrics(counters: DeliveryCounters, registry: Registry): void {
  const messages = {
    sent: new Counter({
      name: 'messages_sent_total',
      help: 'Messages that this process has sent.',
      labelNames: ['channel', 'kind'] as const,
      registers: [registry],
    }),
    failed: new Counter({
      name: 'messages_failed_total',
      help: 'Messages that this process has given up.',
      labelNames: ['channel', 'kind'] as const,
      registers: [registry],
    }),
  };
  counters.onMessage = (outcome, labels) => messages[outcome].inc(labels);
  const webhooks = new Counter({
    name: 'webhooks_ended_total',
    help: 'Webhook deliveries that this process has completed or given up, by outcome.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  counters.onWebhook = (outcome) => webhooks.inc({ outcome });
}

/** Every process reads the same figure, so the largest one is reported. */
function databaseGauge(
  { name, help, label, read }: DatabaseGauge,
  { db, clock }: MetricsOptions,
  registry: Registry,
): void {
  const labelsOf = (value: string | undefined): Record<string, string> =>
    label && value !== undefined ? { [label.name]: value } : {};
  new Gauge({
    name,
    help,
    labelNames: label ? [label.name] : [],
    aggregator: 'max',
    registers: [registry],
    async collect() {
      for (const value of label?.values ?? []) this.set(labelsOf(value), 0);
      // Without the database the other metrics matter most, so they are reported all the same.
      const samples = await read(db, clock()).catch(() => undefined);
      if (!samples) this.reset();
      for (const sample of samples ?? []) this.set(labelsOf(sample.label), sample.value);
    },
  });
}
