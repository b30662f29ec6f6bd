/** One metric of the Prometheus text format (version 0.0.4). */
export type Metric = {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: { suffix?: string; labels?: Readonly<Record<string, string>>; value: number }[]
}

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export const metricsText = (metrics: readonly Metric[]): string => metrics.map(block).join('')

function block({ name, help, type, samples }: Metric): string {
  const lines = samples.map(
    ({ suffix = '', labels = {}, value }) => `${name}${suffix}${labelsText(labels)} ${value}`,
  )
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.map((line) => `${line}\n`).join('')}`
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

export const gauge = (name: string, help: string, value: number): Metric => ({
  name,
  help,
  type: 'gauge',
  samples: [{ value }],
})

export const counter = (name: string, help: string, value: number): Metric => ({
  name,
  help,
  type: 'counter',
  samples: [{ value }],
})

export const byResult = (name: string, help: string, counts: Readonly<Record<string, number>>): Metric => ({
  ...counter(name, help, 0),
  samples: Object.entries(counts).map(([result, value]) => ({ labels: { result }, value })),
})

/** `counts` has one more than there are bounds. Each bucket also counts everything smaller. */
export function histogram(
  name: string,
  help: string,
  { boundsMs, counts, sumMs }: { boundsMs: readonly number[]; counts: readonly number[]; sumMs: number },
): Metric {
  let count = 0
  const buckets = counts.map((inBucket, i) => {
    count += inBucket
    const max = boundsMs[i]
    return {
      suffix: '_bucket',
      labels: { le: max === undefined ? '+Inf' : String(max / 1000) },
      value: count,
    }
  })
  return {
    name,
    help,
    type: 'histogram',
    samples: [...buckets, { suffix: '_sum', value: sumMs / 1000 }, { suffix: '_count', value: count }],
  }
}
