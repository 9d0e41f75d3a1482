// What a buyer asks of a good: fields of the query, or of a JSON body.
import { RequestError } from './request-error.ts'

const MOST_CHARS = 20_000

export interface Ask {
  /** Left out: the fallback; without one it must be there. */
  text(name: string, fallback?: string): string
  number(name: string, range: { from: number; to: number; fallback?: number }): number
  whole(name: string, range: { from: number; to: number; fallback?: number }): number
  /** Without regard to case, answered as it is written here. */
  choice<T extends string>(name: string, options: readonly T[], fallback?: T): T
  /** `YYYY-MM-DD`; left out: today. */
  date(name: string, now: number): string
  /** Numbers separated by commas. */
  numbers(name: string, most: number): number[]
}

export async function readAsk(request: Request): Promise<Ask> {
  const fields = request.method === 'POST' ? await readBody(request) : queryOf(request)
  return askOf((name) => fields.get(name))
}

const queryOf = (request: Request) => new Map(new URL(request.url).searchParams)

async function readBody(request: Request): Promise<Map<string, string>> {
  const body: unknown = await request.json().catch(() => undefined)
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new RequestError('the body must be a JSON object')
  return new Map(Object.entries(body).map(([name, value]) => [name, String(value)]))
}

export function askOf(get: (name: string) => string | undefined): Ask {
  function text(name: string, fallback?: string): string {
    const value = get(name) ?? fallback
    if (value === undefined || value.trim() === '') throw new RequestError(`${name} is missing`)
    if (value.length > MOST_CHARS)
      throw new RequestError(`${name} must have at most ${MOST_CHARS} characters`)
    return value
  }
  const ask: Ask = {
    text,
    number(name, { from, to, fallback }) {
      const value = Number(text(name, fallback?.toString()))
      if (!(value >= from && value <= to))
        throw new RequestError(`${name} must be a number from ${from} to ${to}`)
      return value
    },
    whole(name, range) {
      const value = ask.number(name, range)
      if (!Number.isInteger(value)) throw new RequestError(`${name} must be a whole number`)
      return value
    },
    choice(name, options, fallback) {
      const asked = text(name, fallback).toLowerCase()
      const found = options.find((option) => option.toLowerCase() === asked)
      if (!found) throw new RequestError(`${name} must be one of ${options.join(', ')}`)
      return found
    },
    date(name, now) {
      const date = text(name, new Date(now).toISOString().slice(0, 10))
      const isReal =
        /^\d{4}-\d\d-\d\d$/.test(date) && new Date(Date.parse(date) || 0).toISOString().startsWith(date)
      if (!isReal) throw new RequestError(`${name} must be a day like 2026-03-20`)
      return date
    },
    numbers(name, most) {
      const values = text(name).split(',').map(Number)
      if (values.length > most || values.some((value) => !Number.isFinite(value)))
        throw new RequestError(`${name} must be at most ${most} numbers separated by commas`)
      return values
    },
  }
  return ask
}
