import type { Figure } from './figures.ts'

type Labels = Record<string, string | number>

interface Options<R, Self> {
  name: string
  help: string
  labelNames: string[]
  registers: R[]
  collect(this: Self): Promise<void>
}

/** The constructors of prom-client, which each program brings: this package does not depend on it. */
interface MetricsLibrary<R> {
  Gauge: new (options: Options<R, { reset(): void; set(labels: Labels, value: number): void }>) => unknown
  Counter: new (options: Options<R, { reset(): void; inc(labels: Labels, value: number): void }>) => unknown
}

/** Registers figures that are read when the metrics are scraped. */
export function addFigures<R>(
  { Gauge, Counter }: MetricsLibrary<R>,
  registry: R,
  figures: readonly Figure[],
): void {
  for (const { name, help, type, labelNames, read } of figures) {
    const options = { name: `referrer_${name}`, help, labelNames: [...labelNames], registers: [registry] }
    if (type === 'gauge')
      new Gauge({
        ...options,
        async collect() {
          const samples = await read()
          this.reset()
          for (const { labels, value } of samples) this.set(labels, value)
        },
      })
    else
      new Counter({
        ...options,
        async collect() {
          const samples = await read()
          this.reset()
          for (const { labels, value } of samples) this.inc(labels, value)
        },
      })
  }
}
