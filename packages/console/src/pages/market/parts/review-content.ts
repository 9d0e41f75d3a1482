// What a review says, read from its free fields. Strangers write them: everything has a limit.
import { plain } from '../../../format/text.ts'

export interface Figure {
  key: string
  name: string
  value: string
}

export interface ReviewContent {
  /** From 1 to 5. */
  rating: number | null
  description: string
  /** Measurements, the well-known ones first. */
  figures: Figure[]
  /** How many more fields there are than `figures` shows. */
  more: number
}

const MOST_FIGURES = 24
const MOST_KEYS = 200
const MOST_NAME = 40
const MOST_VALUE = 60
const ELSEWHERE = new Set(['rating', 'description'])
const UNITS: Record<string, string> = { ms: 'ms', usdc: 'USDC', bytes: 'bytes', seconds: 's', percent: '%' }
/** In the order in which people compare. */
const KNOWN = [
  'worked',
  'latency_ms.p50',
  'latency_ms.p95',
  'latency_ms.p99',
  'cost_per_call_usdc',
  'cost_usdc',
  'calls',
  'successes',
  'failures',
]

export function readContent(content: Record<string, unknown>): ReviewContent {
  const { rating, description } = content
  const all = [...worked(content), ...figuresIn(content)].sort((a, b) => placeOf(a.key) - placeOf(b.key))
  const isCounted = all[0]?.key === 'worked'
  const figures = isCounted ? all.filter(({ key }) => !COUNTS.has(key)) : all
  return {
    rating: typeof rating === 'number' && rating >= 1 && rating <= 5 ? rating : null,
    description: typeof description === 'string' ? description : '',
    figures: figures.slice(0, MOST_FIGURES),
    more: Math.max(0, figures.length - MOST_FIGURES),
  }
}

const COUNTS = new Set(['calls', 'successes', 'failures'])
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** Calls and successes together are what one wants to know. */
function worked({ calls, successes }: Record<string, unknown>): Figure[] {
  if (!isCount(calls) || !isCount(successes) || calls === 0 || successes > calls) return []
  const value = `${successes.toLocaleString('en')} of ${calls.toLocaleString('en')} calls`
  return [{ key: 'worked', name: 'Worked', value }]
}

const placeOf = (key: string): number => (KNOWN.includes(key) ? KNOWN.indexOf(key) : KNOWN.length)

function figuresIn(content: Record<string, unknown>): Figure[] {
  return Object.entries(content)
    .slice(0, MOST_KEYS)
    .flatMap(([key, value]): Figure[] => {
      if (ELSEWHERE.has(key) || value === null || value === '') return []
      const { name, unit } = nameOf(key)
      if (typeof value !== 'object' || Array.isArray(value)) {
        return [{ key, name, value: shown(value, unit) }]
      }
      return Object.entries(value)
        .slice(0, MOST_KEYS)
        .filter(([, inner]) => inner !== null)
        .map(([inner, part]) => ({
          key: `${key}.${inner}`,
          name: plain(`${name} ${inner}`, MOST_NAME),
          value: shown(part, unit),
        }))
    })
}

/** `cost_per_call_usdc` is "Cost per call", in USDC. */
function nameOf(key: string): { name: string; unit: string | undefined } {
  const words = key.split('_')
  const unit = words.length > 1 ? UNITS[words.at(-1) ?? ''] : undefined
  const text = plain((unit ? words.slice(0, -1) : words).join(' '), MOST_NAME)
  return { name: text.charAt(0).toUpperCase() + text.slice(1), unit }
}

function shown(value: unknown, unit: string | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text =
    typeof value === 'string'
      ? value
      : typeof value === 'number'
        ? value.toLocaleString('en', { maximumFractionDigits: 6 })
        : JSON.stringify(value)
  return plain(unit ? `${text} ${unit}` : text, MOST_VALUE)
}
