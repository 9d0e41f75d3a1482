// Schemas of request fields: text in a path or query, and JSON values in a body. The OpenAPI document is generated from the same schemas;
// `shown` is the JSON Schema that it shows for a field.
import { type Address, getAddress, type Hex, isAddress } from 'viem'
import { z } from 'zod'
import { MarketError } from './market-error.ts'

const INTEGER = /^-?\d{1,17}$/
const THIRTY_TWO_BYTES = /^(?:0x)?([0-9a-fA-F]{64})$/
const TRUE = ['true', '1', 't', 'T', 'TRUE', 'True']
const FALSE = ['false', '0', 'f', 'F', 'FALSE', 'False']

const EXAMPLE_HASH = '0x47173285a8d7341e5e972fc677286384f802f8ef42a5ec5f03bbfa254cb01fad'
const EXAMPLE_ACCOUNT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

export const INVALID_PRODUCT_ID = 'invalid product_id: must be 32-byte hex'

/** JSON Schema for the OpenAPI document, in place of the one that zod would generate. */
export type Shown = { type: string | string[]; [keyword: string]: unknown }

interface FieldMeta {
  /** Full text of the refusal of a bad value; the default is `invalid <name>`. */
  refusal?: string
  /** Text of the refusal when a query field is missing or empty, where it differs from `refusal`. */
  absent?: string
  about?: string
  shown?: Shown
}

declare module 'zod' {
  interface GlobalMeta extends FieldMeta {}
}

/** An integer as text. An integer that a double cannot hold exactly is refused. */
const integerText = z
  .string()
  .regex(INTEGER)
  .transform(Number)
  .refine((number) => Number.isSafeInteger(number))

/** An integer from `min` up, as text; smaller ones are refused. */
export const id = (min: 0 | 1, refusal: string, about: string) =>
  integerText
    .refine((number) => number >= min)
    .transform(BigInt)
    .meta({ refusal, about, shown: { type: 'integer', minimum: min } })

/** An optional integer that is adjusted by `fit`, not refused, when it is out of range. */
export const integer = (fallback: number, about: string, fit: (number: number) => number) =>
  integerText
    .transform(fit)
    .default(fallback)
    .meta({ about, shown: { type: 'integer', default: fallback } })

export const clamp = (min: number, max: number) => (number: number) => Math.min(Math.max(number, min), max)

export const page = integer(1, 'Which page, from 1; lower is 1.', (number) => Math.max(number, 1))

/** A field of a list that can also be read without pages, where the field is ignored: an invalid value becomes undefined. */
export const lenient = <T extends z.ZodType<number>>(field: T) =>
  z
    .union([field, z.any().transform(() => undefined)])
    .optional()
    .meta(field.meta() ?? {})

/** Refuses a missing or invalid value of a field that the schema leaves optional and this call needs. */
export function requireValue<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new MarketError('invalid input', `invalid ${name}`)
  return value
}

export const offset = integer(0, 'How many to skip; negative is 0.', (number) => Math.max(number, 0))

export const chainId = integerText
  .optional()
  .meta({ about: 'The chain; left out, the default chain.', shown: { type: 'integer' } })

export const flag = (about: string) =>
  z
    .enum([...TRUE, ...FALSE])
    .transform((text) => TRUE.includes(text))
    .default(false)
    .meta({ about, shown: { type: 'string', enum: [...TRUE, ...FALSE], default: 'false' } })

/** An optional field that keeps its metadata, which zod's `optional()` drops. */
export const optional = <T extends z.ZodType>(field: T) => field.optional().meta({ ...field.meta() })

/** 32 bytes as hex, with or without 0x. The parsed value is lower case with 0x. */
export const productId = z
  .string()
  .regex(THIRTY_TWO_BYTES)
  .transform((text): Hex => `0x${text.slice(-64).toLowerCase()}`)
  .meta({
    refusal: INVALID_PRODUCT_ID,
    about: 'The product: 32 bytes as hex, with or without 0x.',
    shown: { type: 'string', pattern: THIRTY_TWO_BYTES.source, examples: [EXAMPLE_HASH] },
  })

/** An address in any case; its checksum is not checked. */
export const account = (refusal: string, about: string) =>
  z
    .string()
    .refine((text) => isAddress(text, { strict: false }))
    .transform((text): Address => getAddress(text))
    .meta({
      refusal,
      about,
      shown: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', examples: [EXAMPLE_ACCOUNT] },
    })

const PARTS_OF_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:[Zz]|[+-](\d{2}):(\d{2}))$/

/** RFC 3339 allows years that Postgres cannot hold. They are clamped to this range, outside of which there is no data. */
const EARLIEST = Date.parse('0001-01-01T00:00:00Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/** A time in RFC 3339 format. */
export const moment = (refusal: string, about: string) =>
  z
    .string()
    .transform((text, context): Date => {
      const at = new Date(text.toUpperCase())
      const parts = PARTS_OF_TIME.exec(text)?.slice(1).map(Number)
      if (parts && !Number.isNaN(at.getTime()) && isOnTheCalendar(parts)) {
        return new Date(clamp(EARLIEST, LATEST)(at.getTime()))
      }
      context.addIssue({ code: 'custom' })
      return z.NEVER
    })
    .meta({ refusal, about, shown: { type: 'string', format: 'date-time' } })

/** Checks the date, because `Date` reads 31 February as 3 March, and 24:00 as the next day. */
function isOnTheCalendar(parts: number[]): boolean {
  const [year = 0, month = 0, day = 0, hour = 0] = parts
  const days = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  return month >= 1 && month <= 12 && day >= 1 && day <= days && hour <= 23
}

/** Text that Postgres and JSON can hold, of `least` to `most` characters (code points). */
export const text = (most: number, least = 0) =>
  z
    .string()
    .refine((value) => value.isWellFormed() && !value.includes('\0'))
    .refine((value) => {
      if (value.length > 2 * most) return false
      const characters = [...value].length
      return characters >= least && characters <= most
    })
    .meta({ shown: { type: 'string', maxLength: most, ...(least > 0 && { minLength: least }) } })

/** Text that is not blank. */
export const words = (most: number) => text(most, 1).refine((value) => value.trim() !== '')

/** Looks at the count of entries or keys before any of them is validated. */
const counted = <T extends z.ZodType>(most: number, schema: T) =>
  z.preprocess((given, context) => {
    if (Object.keys(Object(given)).length <= most) return given
    context.addIssue({ code: 'custom' })
    return z.NEVER
  }, schema)

/** A list in a request. */
export const list = <T extends z.ZodType>(item: T, { least = 0, most }: { least?: number; most: number }) =>
  counted(most, z.array(item).min(least).max(most))

/** An object in a request whose keys the caller chooses. */
export const record = <T extends z.ZodType>(
  value: T,
  { longestKey, most }: { longestKey: number; most: number },
) => counted(most, z.record(text(longestKey, 1), value).meta({ maxProperties: most }))

/** An id in a JSON body. */
export const bodyId = z
  .int()
  .min(0)
  .transform((number) => BigInt(number))
  .meta({ shown: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } })

/** No chain has this id. */
const NO_CHAIN = 0

/** A chain id in a JSON body. When it is left out, it becomes an id that no service has, so the operation refuses it as not configured. */
export const bodyChainId = z
  .preprocess((given) => given ?? NO_CHAIN, z.int())
  .meta({ about: 'A chain of this service.', shown: { type: 'integer', minimum: 1 } })

// Schemas of fields in answers.

export const wholeNumber = z.int().meta({ shown: { type: 'integer' } })
export const hex32 = z
  .string()
  .meta({ shown: { type: 'string', pattern: '^0x[0-9a-f]{64}$', examples: [EXAMPLE_HASH] } })
export const accountShown = z
  .string()
  .meta({ shown: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', examples: [EXAMPLE_ACCOUNT] } })
export const momentShown = z.string().meta({ shown: { type: 'string', format: 'date-time' } })
