/**
 * Reads Prometheus' text format as strictly as its specification: every family has its HELP and TYPE once and before
 * its samples, families are not interleaved, no series comes twice, histograms add up. Only tests need it.
 */
export function parseExposition(text: string): Map<string, number> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const samples = new Map<string, number>()
  const types = new Map<string, string>()
  let family = ''
  for (const line of text.split('\n')) {
    const [, help] = /^# HELP ([a-zA-Z_:][\w:]*) .+$/.exec(line) ?? []
    const [, name, type] =
      /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary|untyped)$/.exec(line) ?? []
    if (line === '') continue
    if (help !== undefined) {
      if (types.has(help)) throw new Error(`${help} is described twice`)
      family = help
    } else if (name !== undefined && type !== undefined) {
      if (name !== family || types.has(name)) throw new Error(`the type of ${name} is out of place`)
      types.set(name, type)
    } else {
      readSample(line, family, types.get(family), samples)
    }
  }
  checkHistograms(samples, types)
  return samples
}

const LABEL = String.raw`[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"`
const SAMPLE = new RegExp(String.raw`^([a-zA-Z_:][\w:]*)(?:\{(${LABEL}(?:,${LABEL})*)\})? (\S+)$`)
const VALUE = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]Inf|NaN)$/i
const SUFFIXES: Record<string, readonly string[]> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
}

function readSample(
  line: string,
  family: string,
  type: string | undefined,
  samples: Map<string, number>,
): void {
  const [, name = '', labels, value = ''] = SAMPLE.exec(line) ?? []
  if (!VALUE.test(value)) throw new Error(`not a sample: ${line}`)
  const names = (SUFFIXES[type ?? ''] ?? ['']).map((suffix) => family + suffix)
  if (type === undefined || !names.includes(name)) throw new Error(`${name} stands in the family ${family}`)
  const series = labels === undefined ? name : `${name}{${labels}}`
  if (samples.has(series)) throw new Error(`${series} comes twice`)
  const number = Number(value.replace('Inf', 'Infinity'))
  if (type === 'counter' && !(number >= 0)) throw new Error(`the counter ${series} is ${value}`)
  samples.set(series, number)
}

function checkHistograms(samples: Map<string, number>, types: Map<string, string>): void {
  const largest = new Map<string, number>()
  for (const [series, value] of samples) {
    const [, name = '', le, rest = ''] = /^(.+)_bucket\{le="([^"]+)",?(.*)\}$/.exec(series) ?? []
    if (types.get(name) !== 'histogram') continue
    const labels = rest === '' ? '' : `{${rest}}`
    if (value < (largest.get(name + labels) ?? 0)) throw new Error(`the buckets of ${name}${labels} shrink`)
    largest.set(name + labels, value)
    if (le === '+Inf' && samples.get(`${name}_count${labels}`) !== value) {
      throw new Error(`the count of ${name}${labels} is not that of its last bucket`)
    }
  }
}
