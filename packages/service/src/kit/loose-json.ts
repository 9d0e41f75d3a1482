// JSON of strangers: whatever it is, it can be asked for a field, and nothing is there that was not sent.

export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Undefined: it is no JSON. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}
