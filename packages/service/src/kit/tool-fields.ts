// Schemas of the input of MCP tools. Numbers may also be sent as text, because some models write large ids as text.
import { z } from 'zod'

const DECIMAL = /^-?\d{1,17}$/
const MOST = Number.MAX_SAFE_INTEGER

// This is not a `preprocess`, because zod's JSON Schema would then list required fields as optional.
const wholeNumber = z.union([z.number(), z.string().trim().regex(DECIMAL).transform(Number)]).pipe(z.int())

/** An id from 0 up. */
export const id = (about: string, example = 7) =>
  wholeNumber
    .refine((number) => number >= 0, { message: NEGATIVE })
    .transform(BigInt)
    .meta({ about, shown: { type: 'integer', minimum: 0, maximum: MOST, examples: [example] } })

/** Message of the refusal of a number below 0. */
export const NEGATIVE = 'must not be negative'

/** An optional integer that is adjusted by `fit`, not refused, when it is out of range. */
export const integer = (fallback: number, about: string, fit: (number: number) => number) =>
  wholeNumber
    .transform(fit)
    .default(fallback)
    .meta({ about, shown: { type: 'integer', default: fallback } })

export const amount = (about: string, example: number) =>
  wholeNumber
    .refine((number) => number >= 0, { message: NEGATIVE })
    .meta({ about, shown: { type: 'integer', minimum: 0, maximum: MOST, examples: [example] } })

export const flag = (about: string) =>
  z
    .preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean())
    .default(false)
    .meta({ about, shown: { type: 'boolean', default: false } })

/** Text that is not empty. */
export const text = (about: string, ...examples: string[]) =>
  z
    .string()
    .min(1)
    .meta({ about, shown: { type: 'string', minLength: 1, ...(examples.length > 0 && { examples }) } })

/** The `chain_id` that every tool takes. */
export const chainId = wholeNumber
  .optional()
  .meta({ about: 'The chain; left out, the default one.', shown: { type: 'integer', examples: [8453] } })
