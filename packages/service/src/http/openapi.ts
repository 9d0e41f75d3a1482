import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { chainId } from './fields.ts'
import { type Json, toJsonSchema } from './json-schema.ts'
import type { Route } from './route.ts'

/** A route, or one that is served elsewhere and only described. */
export type Described = Omit<Route, 'handle'> & {
  /** Answers other than `status` that are no refusals. */
  otherwise?: Record<number, z.ZodType>
  /** Whether it is never turned away and has no way to fail. */
  isPlain?: boolean
}

const TITLE = 'Referrer'
const ABOUT = `A referral-commission marketplace for purchases made by software agents.

Ids and amounts are integers; amounts are USDC base units (6 decimals). Times are RFC 3339 in UTC. An error is \`{"error": "<text>"}\`; where a
field does not fit, \`detail\` beside it names the field and says what would be right.

**Signed requests** carry \`X-Agent-Timestamp\` (unix seconds, within 60 seconds of now) and \`X-Agent-Signature\`: an EIP-191 personal
signature over the 32 bytes keccak256(body ‖ timestamp as uint64, big-endian). A GET signs the timestamp alone. The signer is the caller.
A signed request other than a GET counts once. \`POST /v1/auth/session\` gives a token to send instead.`

const SECURITY = {
  none: undefined,
  caller: [{ timestamp: [], signature: [] }, { session: [] }],
  signature: [{ timestamp: [], signature: [] }],
  session: [{ session: [] }],
  admin: [{ session: [] }],
}

/** The OpenAPI 3.1 document of routes, out of the schemas that check the requests. */
export function describeRoutes(
  routes: readonly Described[],
  { baseUrl, version }: { baseUrl: string; version: string },
) {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(route, schemas) }
  }
  schemas.Error = {
    type: 'object',
    properties: {
      error: { type: 'string' },
      detail: { type: 'string', description: 'Which field is wrong, and what would be right.' },
    },
    required: ['error'],
    additionalProperties: false,
  }
  schemas.Unauthorized = {
    type: 'object',
    properties: {
      error: { type: 'string', const: 'unauthorized' },
      detail: { type: 'string', description: 'What is wrong with the credentials.' },
    },
    required: ['error'],
    additionalProperties: false,
  }
  return {
    openapi: '3.1.0',
    info: { title: TITLE, version, description: ABOUT, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: baseUrl }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        timestamp: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Agent-Timestamp',
          description: 'Unix seconds, the ones that were signed.',
        },
        signature: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Agent-Signature',
          description: '65 bytes as hex. It fits one request only; to try routes here, a session is easier.',
        },
        session: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token from `POST /v1/auth/session`. It stands for the signature.',
        },
      },
    },
  }
}

function describeRoute(route: Described, schemas: Json): Json {
  const { tag, summary, about, auth, method, path, body } = route
  const params = [...parameters(route, 'path', schemas), ...parameters(route, 'query', schemas)]
  return {
    operationId: operationId(method, path),
    tags: [tag],
    summary,
    ...(about && { description: about }),
    ...(SECURITY[auth] && { security: SECURITY[auth] }),
    ...(params.length > 0 && { parameters: params }),
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaOf(body.schema, 'input', schemas) } },
      },
    }),
    responses: responses(route, schemas),
  }
}

/** `GET /v1/review/{id}` is `getReviewById`. */
function operationId(method: string, path: string): string {
  const words = path
    .replace(/^\/v1\//, '/')
    .replaceAll('{', 'by-')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

type Fields = Record<string, z.ZodType>

const fieldsOf = (schema: Route['params'] | Route['query']) =>
  ((schema as z.ZodObject | undefined)?.shape ?? {}) as Fields

function parameters(
  { params, query, takesChain }: Described,
  place: 'path' | 'query',
  schemas: Json,
): Json[] {
  const fields =
    place === 'path' ? fieldsOf(params) : { ...fieldsOf(query), ...(takesChain && { chain_id: chainId }) }
  return Object.entries(fields).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field, 'input', schemas)
    return {
      name,
      in: place,
      required: place === 'path' || !field.safeParse(undefined).success,
      ...(description !== undefined && { description }),
      schema,
    }
  })
}

function responses(route: Described, schemas: Json): Json {
  const { status = 200, response = z.string(), contentType = 'application/json', summary } = route
  const mediaType = contentType.split(';')[0] as string
  const answer = (schema: z.ZodType, alsoAs?: string) => ({
    description: summary,
    content: {
      [mediaType]: { schema: schemaOf(schema, 'output', schemas) },
      ...(alsoAs && { [alsoAs]: { schema: { type: 'string' } } }),
    },
  })
  const known: Json = { [status]: status === 204 ? { description: summary } : answer(response, route.alsoAs) }
  for (const [at, schema] of Object.entries(route.otherwise ?? {})) known[at] = answer(schema)
  for (const [at, texts] of refusalTexts(route)) known[at] = refusal(at, [...texts], route)
  return known
}

/** Every text that the route can refuse with, by status. */
function refusalTexts(route: Described): Map<number, Set<string>> {
  const { auth, body, isPlain, method, takesChain, refusals = {} } = route
  const texts = new Map<number, Set<string>>()
  const add = (at: number, ...more: string[]) => texts.set(at, new Set([...(texts.get(at) ?? []), ...more]))
  for (const [name, field] of Object.entries({ ...fieldsOf(route.params), ...fieldsOf(route.query) })) {
    const { absent, refusal = `invalid ${name}` } = field.meta() ?? {}
    if (absent) add(400, absent)
    if (!field.safeParse('\0').success) add(400, refusal)
  }
  if (body) add(400, body.refusal)
  for (const [at, text] of Object.entries(refusals)) add(Number(at), ...[text].flat())
  if (takesChain) add(400, 'invalid chain_id', 'chain_id not configured')
  if (auth !== 'none') add(401, 'unauthorized')
  if (auth === 'admin') add(403, 'not authorized')
  if (method !== 'GET') {
    add(413, 'request body too large')
    add(415, 'unsupported content type')
  }
  if (!isPlain) add(429, 'rate limited')
  if (!isPlain && !refusals[500]) add(500, 'internal error')
  return texts
}

function refusal(status: number, texts: string[], { refusalPage, alsoAs }: Described): Json {
  return {
    description: texts.map((text) => `\`${text}\``).join(', '),
    ...(status === 429 && {
      headers: {
        'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
      },
    }),
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${status === 401 ? 'Unauthorized' : 'Error'}` },
        examples: status === 401 ? UNAUTHORIZED_EXAMPLES : examplesOf(texts),
      },
      ...(refusalPage && alsoAs && status !== 429 && { [alsoAs]: { schema: { type: 'string' } } }),
    },
  }
}

const UNAUTHORIZED_EXAMPLES = Object.fromEntries(
  ['signature required', 'timestamp out of range', 'replayed request', 'unknown or expired session'].map(
    (detail) => [exampleName(detail), { value: { error: 'unauthorized', detail } }],
  ),
)

const examplesOf = (texts: string[]) =>
  Object.fromEntries(texts.map((text) => [exampleName(text), { value: { error: text } }]))

function exampleName(text: string): string {
  return text.replaceAll(/\W+/g, '-').replaceAll(/^-|-$/g, '') || 'error'
}

/** As JSON Schema, with the named schemas put where all can refer to them. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const { $defs, ...json } = toJsonSchema(schema, io)
  const moved = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll('#/$defs/', '#/components/schemas/')) as Json
  for (const [name, definition] of Object.entries(moved($defs ?? {}))) {
    if (schemas[name] && !isDeepStrictEqual(schemas[name], definition)) {
      throw new Error(`two schemas are called ${name}; give one of them another id`)
    }
    schemas[name] = definition
  }
  return moved(json)
}
