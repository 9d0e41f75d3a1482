// What the text of a review asks for: a rating and a description, and what the schema of the product's category adds.

export interface ContentField {
  /** Where it stands in the review: `['latency_ms', 'p50']`. */
  path: string[]
  label: string
  kind: 'integer' | 'number' | 'amount' | 'text'
}

interface Schema {
  $ref?: string
  type?: string
  anyOf?: Schema[]
  required?: string[]
  properties?: Record<string, Schema>
  $defs?: Record<string, Schema>
}

/** Asked for in every review, by fields of their own. */
const ALWAYS = new Set(['rating', 'description'])
const MOST_FIELDS = 40
const DEEPEST = 3

/** The required fields of a category's JSON Schema, besides rating and description. */
export function fieldsOf(schema: unknown): ContentField[] {
  const root = Object(schema) as Schema
  const resolve = (one: Schema): Schema =>
    (one.$ref ? root.$defs?.[one.$ref.replace('#/$defs/', '')] : undefined) ?? one
  const within = (parent: Schema, path: string[]): ContentField[] =>
    (parent.required ?? []).flatMap((name) => {
      const here = [...path, name]
      const field = resolve(parent.properties?.[name] ?? {})
      if (path.length === 0 && ALWAYS.has(name)) return []
      if (field.type === 'object') return here.length < DEEPEST ? within(field, here) : []
      return [{ path: here, label: labelOf(here), kind: kindOf(field) }]
    })
  return within(root, []).slice(0, MOST_FIELDS)
}

function kindOf({ type, anyOf }: Schema): ContentField['kind'] {
  if (type === 'integer' || type === 'number') return type
  // An exact decimal, which may be text.
  return anyOf?.some((one) => one.type === 'number') ? 'amount' : 'text'
}

const UNITS: [mark: RegExp, unit: string][] = [
  [/ usdc$/, ', in USDC'],
  [/ ms\b/, ', in ms'],
]

/** `latency_ms.p50` → `Latency p50, in ms`. */
function labelOf(path: string[]): string {
  const words = path.join(' ').replaceAll('_', ' ')
  const [mark, unit] = UNITS.find(([one]) => one.test(words)) ?? [/$^/, '']
  const text = words.replace(mark, '').trim()
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${unit}`
}

const FORMS: Record<ContentField['kind'], [form: RegExp, wrong: string]> = {
  integer: [/^\d{1,15}$/, 'Enter a whole number.'],
  number: [/^\d{1,12}(?:\.\d{1,6})?$/, 'Enter a number, such as 120 or 0.5.'],
  amount: [/^\d{1,12}(?:\.\d{1,12})?$/, 'Enter an amount, such as 0.40.'],
  text: [/\S/, 'Enter something.'],
}

/** What is wrong with what a person entered. */
export function wrongIn({ kind }: ContentField, text: string): string | undefined {
  const [form, wrong] = FORMS[kind]
  return form.test(text.trim()) ? undefined : wrong
}

export const LONGEST_DESCRIPTION = 8_000

export function wrongDescription(text: string): string | undefined {
  if (text.trim() === '') return 'Say how it was.'
  return /[<>]/.test(text) ? 'Leave out the signs < and >.' : undefined
}

/** The review as JSON text: these exact characters are hashed and published. */
export function contentOf(
  rating: number,
  description: string,
  values: readonly { field: ContentField; text: string }[],
): string {
  const content: Record<string, unknown> = { rating, description: description.trim() }
  for (const { field, text } of values) {
    const isNumber = field.kind === 'integer' || field.kind === 'number'
    let place = content
    for (const name of field.path.slice(0, -1)) {
      place[name] ??= {}
      place = place[name] as Record<string, unknown>
    }
    place[field.path.at(-1) as string] = isNumber ? Number(text.trim()) : text.trim()
  }
  return JSON.stringify(content)
}
