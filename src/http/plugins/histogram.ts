import type { Metric, MetricObjectWithValues, MetricValueWithName, Registry } from 'prom-client';

// From what a prepared statement takes to what a caller gives up on.
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

type Labels = Record<string, string>;
type Value = MetricValueWithName<string>;

/** How long something took, each time: how often not longer than each bound, and in all. */
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
 * A histogram with labels, in parts that whoever measures keeps. That of prom-client puts its labels and the bounds
 * together as text, and looks for them, with every value: a twentieth of what a short request costs.
 */
export class LabelledHistogram {
  readonly name: string;
  readonly #help: string;
  readonly #parts: { labels: Labels; timing: DurationHistogram }[] = [];

  constructor(name: string, help: string, registry: Registry) {
    this.name = name;
    this.#help = help;
    registry.registerMetric(this as unknown as Metric);
  }

  withLabels(labels: Labels): DurationHistogram {
    const timing = new DurationHistogram();
    this.#parts.push({ labels, timing });
    return timing;
  }

  /** As the registry asks every metric. */
  async get(): Promise<Omit<MetricObjectWithValues<Value>, 'type' | 'collect'> & { type: 'histogram' }> {
    const values = this.#parts.flatMap(({ labels, timing }) => timing.values(this.name, labels));
    return { name: this.name, help: this.#help, type: 'histogram', aggregator: 'sum', values };
  }
}
