import type { Metric, MetricObjectWithValues, MetricValueWithName, Registry } from 'prom-client';

// Seconds, from a short statement to a request that its caller gives up.
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

type Labels = Record<string, string>;
type Value = MetricValueWithName<string>;

/** Counts durations by bucket, and sums them up. */
export class DurationHistogram {
  readonly #counts = new Float64Array(BUCKETS.length + 1);
  #sum = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += seconds;
  }

  values(name: string, labels: Labels): Value[] {
    let count = 0;
    const buckets = [...BUCKETS, '+Inf'].map((le, i) => {
      count += this.#counts[i] as number;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

/**
 * A histogram whose callers keep the object for their labels. The histogram of prom-client builds a text of labels and
 * bounds for each value, which took 5 % of a short request.
 */
export class LabelledHistogram {
  readonly name: string;
  readonly #help: string;
  readonly #series: { labels: Labels; durations: DurationHistogram }[] = [];

  constructor(name: string, help: string, registry: Registry) {
    this.name = name;
    this.#help = help;
    registry.registerMetric(this as unknown as Metric);
  }

  withLabels(labels: Labels): DurationHistogram {
    const durations = new DurationHistogram();
    this.#series.push({ labels, durations });
    return durations;
  }

  /** Called by the registry. */
  async get(): Promise<Omit<MetricObjectWithValues<Value>, 'type' | 'collect'> & { type: 'histogram' }> {
    const values = this.#series.flatMap(({ labels, durations }) => durations.values(this.name, labels));
    return { name: this.name, help: this.#help, type: 'histogram', aggregator: 'sum', values };
  }
}
