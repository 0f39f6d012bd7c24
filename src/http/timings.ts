import { Histogram, type Metric, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

// From what a prepared statement takes to what a caller gives up on.
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

type Labels = Record<string, string>;
type Part = { labels: Labels; histogram: Histogram };

/**
 * A histogram with labels, in parts that whoever measures keeps: a histogram of prom-client puts its labels together as
 * text, and looks for that, with every value.
 */
export class Timings {
  readonly name: string;
  readonly #help: string;
  readonly #parts: Part[] = [];

  constructor(name: string, help: string, registry: Registry) {
    this.name = name;
    this.#help = help;
    registry.registerMetric(this as unknown as Metric);
  }

  part(labels: Labels): Histogram {
    const histogram = new Histogram({ name: this.name, help: this.#help, buckets: BUCKETS, registers: [] });
    this.#parts.push({ labels, histogram });
    return histogram;
  }

  /** As the registry asks every metric. */
  async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const whole = await this.#empty().get();
    for (const { labels, histogram } of this.#parts) {
      const { values } = await histogram.get();
      whole.values.push(...values.map((value) => ({ ...value, labels: { ...labels, ...value.labels } })));
    }
    return whole;
  }

  #empty(): Histogram {
    const histogram = new Histogram({ name: this.name, help: this.#help, buckets: BUCKETS, registers: [] });
    histogram.reset();
    return histogram;
  }
}
