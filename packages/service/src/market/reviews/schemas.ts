// Schemas of reviews by product category, with invariants between their measurements.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '@referrer/process'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { z } from 'zod'
import type { Config } from '../../kit/config.ts'
import { oncePerProcess } from '../../kit/context.ts'
import { refused } from '../../kit/market-error.ts'
import type { Content } from './content.ts'
import { holds, Invariant, measure } from './invariant.ts'

/** Directory of the schemas that come with the service. */
const SHIPPED = fileURLToPath(new URL('../../../review-schemas', import.meta.url))

const SchemaFile = z.strictObject({
  category: z.string().min(1).max(64),
  schema: z.record(z.string(), z.unknown()),
  invariants: z.array(Invariant).default([]),
})

interface ReviewSchema {
  category: string
  /** The JSON Schema as it is in the file. */
  schema: Record<string, unknown>
  isFitting: ValidateFunction
  invariants: Invariant[]
}

export type ReviewSchemas = ReadonlyMap<string, ReviewSchema>

/** Read and compiled once: they do not change while the service runs. */
let shipped: ReviewSchemas | undefined

/** The schemas by category. An operator's schema replaces the one that comes with the service. */
export function loadReviewSchemas({ reviewSchemas }: Pick<Config, 'reviewSchemas'>): ReviewSchemas {
  shipped ??= loadDirectory(SHIPPED)
  return reviewSchemas === undefined ? shipped : new Map([...shipped, ...loadDirectory(reviewSchemas)])
}

export const reviewSchemas = oncePerProcess(({ config }) => loadReviewSchemas(config))

/** Refuses content that breaks the schema or an invariant of its product's category. A category without a schema accepts all. */
export function checkCategory(
  schemas: ReviewSchemas,
  category: string,
  { content, text }: { content: Content; text: string },
): void {
  const schema = schemas.get(category)
  if (!schema) return
  if (!schema.isFitting(content)) {
    const [error] = schema.isFitting.errors ?? []
    const what = `${error?.instancePath ?? ''} ${error?.message ?? 'does not fit'}`.trim()
    throw refused('invalid input', `content_json does not follow the schema of category ${category}: ${what}`)
  }
  const measured = measure(text)
  const broken = schema.invariants.find((invariant) => !holds(invariant, measured))
  if (broken) throw refused('invalid input', `${broken.name} does not hold`)
}

/** The requirements of a category, for authors of reviews; undefined when the category has none of its own. */
export function needsOf(schemas: ReviewSchemas, category: string) {
  const needs = schemas.get(category)
  return (
    needs && {
      schema_name: category,
      schema: needs.schema,
      must_hold: [...new Set(needs.invariants.map(({ name }) => name))],
    }
  )
}

function loadDirectory(directory: string): Map<string, ReviewSchema> {
  const schemas = new Map<string, ReviewSchema>()
  const problems: string[] = []
  for (const name of filesIn(directory)) {
    const file = join(directory, name)
    try {
      const schema = compile(readFileSync(file, 'utf8'))
      if (schemas.has(schema.category))
        throw new Error(`category ${schema.category} has another file already`)
      schemas.set(schema.category, schema)
    } catch (error) {
      problems.push(`REVIEW_SCHEMAS: ${file}: ${(error as Error).message}`)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return schemas
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.json'))
      .sort()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError([`REVIEW_SCHEMAS: ${directory} cannot be read (${code})`])
  }
}

function compile(text: string): ReviewSchema {
  const result = SchemaFile.safeParse(JSON.parse(text))
  if (!result.success) {
    const [issue] = result.error.issues
    throw new Error(`${issue?.path.join('.') || 'the file'}: ${issue?.message}`)
  }
  const { category, schema, invariants } = result.data
  // Each file has its own validator, so that their `$id`s do not collide. Ajv fetches nothing: an external reference does not compile.
  const ajv = new Ajv2020({ strict: true })
  addFormats.default(ajv)
  return { category, schema, isFitting: ajv.compile(schema), invariants }
}
