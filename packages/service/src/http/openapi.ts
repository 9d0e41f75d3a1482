import { z } from 'zod'
import type { Route } from './route.ts'

type Json = Record<string, unknown>

const TITLE = 'Referrer'
const ABOUT = `A referral-commission marketplace for purchases made by software agents.

Ids and amounts are integers; amounts are USDC base units (6 decimals). Times are RFC 3339 in UTC. An error is \`{"error": "<text>"}\`.

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
  routes: readonly Route[],
  { baseUrl, version }: { baseUrl: string; version: string },
) {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(route, schemas) }
  }
  schemas.Error = {
    type: 'object',
    properties: { error: { type: 'string' } },
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
        timestamp: { type: 'apiKey', in: 'header', name: 'X-Agent-Timestamp' },
        signature: { type: 'apiKey', in: 'header', name: 'X-Agent-Signature' },
        session: { type: 'http', scheme: 'bearer' },
      },
    },
  }
}

function describeRoute(route: Route, schemas: Json): Json {
  const { tag, summary, about, auth, method, path, body } = route
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase()).replaceAll(/\W/g, '')}`,
    tags: [tag],
    summary,
    ...(about && { description: about }),
    ...(SECURITY[auth] && { security: SECURITY[auth] }),
    parameters: [...parameters(route, 'path', schemas), ...parameters(route, 'query', schemas)],
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaOf(body.schema, 'input', schemas) } },
      },
    }),
    responses: responses(route, schemas),
  }
}

function parameters({ params, query, takesChain }: Route, place: 'path' | 'query', schemas: Json): Json[] {
  const shape = { ...((place === 'path' ? params : query) as z.ZodObject | undefined)?.shape } as Record<
    string,
    z.ZodType
  >
  if (place === 'query' && takesChain) shape.chain_id = CHAIN_ID
  return Object.entries(shape).map(([name, field]) => ({
    name,
    in: place,
    required: place === 'path' || !field.safeParse(undefined).success,
    ...(field.meta()?.about && { description: field.meta()?.about }),
    schema: { ...schemaOf(field, 'input', schemas), description: undefined },
  }))
}

const CHAIN_ID = z
  .string()
  .optional()
  .meta({ about: 'The chain; left out, the default chain.', shown: { type: 'integer' } })

function responses(route: Route, schemas: Json): Json {
  const { auth, body, status = 200, response, contentType = 'application/json', summary } = route
  const known: Json = {
    [status]: {
      description: summary,
      ...(response && { content: { [contentType]: { schema: schemaOf(response, 'output', schemas) } } }),
      ...(!response && status !== 204 && { content: { [contentType]: { schema: { type: 'string' } } } }),
    },
  }
  const texts = new Map<number, string[]>()
  const add = (at: number, ...more: string[]) =>
    texts.set(at, [...new Set([...(texts.get(at) ?? []), ...more])])
  for (const [at, text] of Object.entries(route.refusals ?? {})) add(Number(at), ...[text].flat())
  for (const shape of [route.params, route.query]) {
    for (const [name, field] of Object.entries((shape as z.ZodObject | undefined)?.shape ?? {})) {
      if (!(field as z.ZodType).safeParse('\0').success)
        add(400, (field as z.ZodType).meta()?.refusal ?? `invalid ${name}`)
    }
  }
  if (body) add(400, body.refusal)
  if (route.takesChain) add(400, 'invalid chain_id', 'chain_id not configured')
  if (auth === 'admin') add(403, 'not authorized')
  if (auth !== 'none') add(401, 'unauthorized')
  if (route.method !== 'GET') add(413, 'request body too large')
  add(429, 'rate limited')
  if (!route.refusals?.[500]) add(500, 'internal error')
  for (const [at, examples] of [...texts].sort(([a], [b]) => a - b)) known[at] = refusal(at, examples)
  return known
}

function refusal(status: number, texts: string[]): Json {
  const error = { $ref: '#/components/schemas/Error' }
  const detailed = {
    type: 'object',
    properties: { error: { const: 'unauthorized' }, detail: { type: 'string' } },
    required: ['error'],
    additionalProperties: false,
  }
  return {
    description: texts.map((text) => `\`${text}\``).join(', '),
    ...(status === 429 && {
      headers: {
        'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
      },
    }),
    content: {
      'application/json': {
        schema: status === 401 ? detailed : error,
        examples: Object.fromEntries(texts.map((text) => [exampleName(text), { value: { error: text } }])),
      },
    },
  }
}

const exampleName = (text: string) => text.replaceAll(/\W+/g, '-').replaceAll(/^-|-$/g, '') || 'error'

/** As JSON Schema, with the named schemas put where all can refer to them. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const {
    $schema: _,
    $defs,
    ...json
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      const { shown, about, refusal: _refusal, ...rest } = { ...jsonSchema } as Json
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema]
      Object.assign(jsonSchema, shown ?? rest, about ? { description: about } : {})
    },
  }) as Json
  const text = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll('#/$defs/', '#/components/schemas/')) as Json
  for (const [name, definition] of Object.entries(($defs ?? {}) as Json)) {
    const { id: _id, ...own } = text(definition)
    schemas[name] = own
  }
  const { id, ...own } = text(json)
  if (typeof id !== 'string') return own
  schemas[id] = own
  return { $ref: `#/components/schemas/${id}` }
}
