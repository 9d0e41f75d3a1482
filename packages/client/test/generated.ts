// What is in src/generated, made from the OpenAPI document that the service gives of itself, without a chain or a database.
import type { Sql } from '@referrer/database'
import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { testApp } from '../../service/src/app/testing.ts'
import { testConfig, testContext } from '../../service/src/doors/http/testing.ts'

interface Schema {
  $ref?: string
  type?: string
  properties?: Record<string, Schema>
  anyOf?: Schema[]
}

interface Operation {
  security: Record<string, string[]>[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  parameters?: { name: string; in: string; description: string }[]
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

export interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const HEADER = '// Made by `npm run generate -w packages/client`: do not edit.\n'

/** With a messenger, webhooks and accounts of a sandbox, so that every route is described. */
export async function documentOfService(): Promise<Document> {
  const config = testConfig({
    WEBHOOK_KEYS: '11'.repeat(32),
    TELEGRAM_BOT_TOKEN: '1:nobody',
    TELEGRAM_BOT_NAME: 'referrer_bot',
    CONSOLE_ACCOUNTS: JSON.stringify([{ name: 'buyer', private_key: `0x${'11'.repeat(32)}` }]),
  })
  const app = testApp(testContext((async () => []) as unknown as Sql, { config }).context)
  try {
    return (await app.inject('/openapi.json')).json()
  } finally {
    await app.close()
  }
}

/** The text of every generated file, by its name. */
export async function generate(document: Document): Promise<Record<string, string>> {
  const types = await openapiTypescript(withoutRefusals(document) as unknown as OpenAPI3, {
    // An object whose fields are not named may have any.
    emptyObjectsUnknown: true,
  })
  return { 'openapi.ts': HEADER + astToString(types), 'routes.ts': HEADER + routesOf(document) }
}

export const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  )

/** The client throws refusals, all in one shape: their types would be three quarters of the file. */
function withoutRefusals(document: Document): Document {
  const copy = structuredClone(document)
  for (const { operation } of operationsOf(copy)) {
    for (const status of Object.keys(operation.responses)) {
      if (Number(status) >= 400) delete operation.responses[status]
    }
  }
  return copy
}

function routesOf(document: Document): string {
  const operations = operationsOf(document)
  const routes = operations.map(({ path, method, operation }) => {
    const takesChain = operation.parameters?.some(({ name, in: at }) => at === 'query' && name === 'chain_id')
    const fields = `auth: '${authOf(operation)}', answers: '${answerOf(operation)}', takesChain: ${takesChain === true}, namesItself: ${namesItself(document, operation)}`
    return `  '${method} ${path}': { ${fields} },`
  })
  const listings = operations.flatMap(({ path, operation }) => {
    const listing = listingOf(document, operation)
    return listing ? [`  '${path}': ${listing},`] : []
  })
  return `
/** Who may call a route, what it answers, whether its query names a chain, and whether its body names the request itself. */
export const ROUTES = {
${routes.join('\n')}
} as const

/** Routes that answer page by page: what counts the pages, how many entries one may have, and where they are in the answer. */
export const LISTINGS = {
${listings.join('\n')}
} as const
`
}

function namesItself(document: Document, { requestBody }: Operation): boolean {
  const schema = requestBody?.content['application/json'].schema
  const fields = schema
    ? alternativesOf(document, schema).flatMap((one) => Object.keys(one.properties ?? {}))
    : []
  return fields.includes('action') && fields.includes('domain')
}

function authOf({ security }: Operation): string {
  const ways = security.map((way) => Object.keys(way).join('+') || 'body').sort()
  const auth = {
    '': 'none',
    'session,timestamp+signature': 'caller',
    'body,timestamp+signature': 'sign-in',
    session: 'session',
    console: 'console',
  }[ways.join()]
  if (!auth) throw new Error(`the client does not know how to authenticate by ${JSON.stringify(security)}`)
  return auth
}

function answerOf({ responses }: Operation): 'json' | 'text' | 'nothing' {
  const { content } = responses[200] ?? responses[201] ?? {}
  if (!content) return 'nothing'
  return content['application/json'] ? 'json' : 'text'
}

function listingOf(document: Document, { parameters = [], responses }: Operation): string | undefined {
  const [limit, page, offset] = ['limit', 'page', 'offset'].map((name) =>
    parameters.find((parameter) => parameter.in === 'query' && parameter.name === name),
  )
  const schema = responses[200]?.content?.['application/json']?.schema
  const items = schema && [...new Set(alternativesOf(document, schema).flatMap(arraysOf))]
  const by = page ?? offset
  // An answer with several arrays is no listing: its pages are those of one of them, and the others come again with every page.
  if (!limit || !by || items?.length !== 1) return undefined
  // Its schema has no maximum: what is above is not refused, but served as less.
  const [, most] = /(?:1 to|at most) (\d+)/i.exec(limit.description) ?? []
  if (!most) throw new Error(`no listing can be read from ${JSON.stringify(limit)}`)
  return `{ by: '${by.name}', most: ${most}, items: '${items[0]}' }`
}

function alternativesOf(document: Document, schema: Schema): Schema[] {
  if (schema.anyOf) return schema.anyOf.flatMap((one) => alternativesOf(document, one))
  const named = schema.$ref && document.components.schemas[schema.$ref.split('/').at(-1) as string]
  return named ? alternativesOf(document, named) : [schema]
}

const arraysOf = ({ properties = {} }: Schema) =>
  Object.keys(properties).filter((name) => properties[name]?.type === 'array')
