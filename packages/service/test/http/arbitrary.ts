// Random requests: valid ones, and valid ones with one part broken.

import type { Operation } from '@referrer/process/openapi/testing'
import fc from 'fast-check'
import {
  BROKEN_BODIES,
  BROKEN_JSON,
  BROKEN_TEXT,
  CONTENT_TYPES,
  CREDENTIALS,
  type Credential,
  HEADERS,
} from './broken.ts'
import type { Example } from './examples.ts'
import type { RawRequest } from './raw.ts'

export interface Drawn extends RawRequest {
  credential: Credential
  /** Seconds between the timestamp and now. */
  skew: number
}

type Value = string | undefined | Uint8Array | readonly string[] | readonly (readonly [string, string])[]

/** A part of a request: its valid value, and values of other kinds. */
interface Part {
  good: Value
  values: readonly Value[]
  more?: fc.Arbitrary<Value>
}

const MOST_SKEW = 50

/**
 * Each value in its place in an otherwise valid request, and an arbitrary that mixes all of them. `known`: ids and
 * texts of the market, all kinds together.
 */
export function requests(
  operation: Operation,
  example: Example,
  known: string[],
): { each: Drawn[]; mixed: fc.Arbitrary<Drawn> } {
  const parts = Object.entries(partsOf(operation, example, known))
  const good = Object.fromEntries(parts.map(([name, part]) => [name, part.good]))
  const drawn = (values: Record<string, Value>, skew: number) => requestOf(operation, example, values, skew)
  const any = parts.map(([, { values, more }]) =>
    fc.oneof(fc.constantFrom(...values), ...(more ? [more] : [])),
  )
  return {
    each: parts
      .flatMap(([name, { values }]) => values.map((value) => ({ ...good, [name]: value })))
      // Each has a different timestamp; otherwise they could count as replays.
      .map((values, at) => drawn(values, (at % (2 * MOST_SKEW)) - MOST_SKEW)),
    mixed: fc
      .tuple(
        fc.tuple(...any),
        fc.infiniteStream(fc.boolean()),
        fc.integer({ min: -MOST_SKEW, max: MOST_SKEW }),
      )
      .map(([values, isGood, skew]) =>
        drawn(
          Object.fromEntries(
            parts.map(([name, part], at) => [name, isGood.next().value ? part.good : values[at]]),
          ),
          skew,
        ),
      ),
  }
}

function partsOf({ method, path, parameters, hasBody }: Operation, example: Example, known: string[]) {
  const good = new URL(example.path, 'http://x')
  const texts = [...known, ...BROKEN_TEXT]
  const moreText = fc.oneof(
    fc.integer().map(String),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map(encodeURIComponent),
  )
  const parts: Record<string, Part> = {
    method: { good: method, values: [method === 'GET' ? 'HEAD' : method] },
    credential: { good: 'right', values: CREDENTIALS },
    headers: { good: [], values: HEADERS },
    contentType: { good: 'application/json', values: CONTENT_TYPES },
    moreQuery: { good: [], values: [['x=1'], ['&&=&'], ['%'], ['__proto__=1']] },
    body: { good: undefined, values: hasBody ? BROKEN_BODIES : ['', '{}', 'x', '\0'] },
  }
  path.split('/').forEach((part, at) => {
    const own = good.pathname.split('/')[at] ?? ''
    if (part.startsWith('{')) parts[`path ${at}`] = { good: own, values: texts, more: moreText }
  })
  for (const { name, schema } of queryOf(parameters)) {
    const own = good.searchParams.get(name)
    const allowed = ((schema.enum as unknown[]) ?? []).map(String)
    parts[`query ${name}`] = {
      good: own === null ? [] : [`${name}=${own}`],
      values: [
        ...[...texts, ...allowed].map((text) => [`${name}=${text}`]),
        ...[[], [name], [`${name}=`], [`${name}[]=1`], [`${name}=1`, `${name}=2`]],
      ],
      more: moreText.map((text) => [`${name}=${text}`]),
    }
  }
  if (!hasBody) return parts
  parts.moreBody = { good: [], values: [['"x":1'], ['"__proto__":{"agent_id":1}'], ['"constructor":null']] }
  for (const [key, value] of Object.entries(example.body ?? {})) {
    const ids = known.filter((text) => typeof value === 'number' && /^\d+$/.test(text))
    parts[`body ${key}`] = {
      good: JSON.stringify(value),
      values: [undefined, ...BROKEN_JSON, ...ids],
      more: fc.json({ maxDepth: 2 }),
    }
  }
  return parts
}

const queryOf = (parameters: Operation['parameters']) =>
  parameters.filter((parameter) => parameter.in === 'query')

function requestOf(
  { parameters, hasBody }: Operation,
  example: Example,
  values: Record<string, Value>,
  skew: number,
): Drawn {
  const { pathname } = new URL(example.path, 'http://x')
  const path = pathname.split('/').map((part, at) => values[`path ${at}`] ?? part)
  const query = [...queryOf(parameters).map(({ name }) => values[`query ${name}`]), values.moreQuery].flat()
  const fields = Object.keys(example.body ?? {}).flatMap((key) => {
    const value = values[`body ${key}`]
    return value === undefined ? [] : [`${JSON.stringify(key)}:${value}`]
  })
  const body = values.body ?? (hasBody ? `{${[...fields, values.moreBody].flat().join(',')}}` : undefined)
  const headers = values.headers as RawRequest['headers'] & object
  return {
    method: String(values.method),
    path: `${path.join('/')}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers: body === undefined ? headers : [...headers, ['content-type', String(values.contentType)]],
    ...(body !== undefined && { body: body as string | Uint8Array }),
    credential: values.credential as Credential,
    skew,
  }
}
