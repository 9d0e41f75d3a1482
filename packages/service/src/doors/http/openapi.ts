import {
  type DescribedAnswer,
  describeOperations,
  examplesOf,
  type Fields,
  type Json,
  type Operation,
} from '@referrer/process/openapi'
import { z } from 'zod'
import { chainId } from '../../kit/fields.ts'
import { bodyOf, type Route } from '../../kit/route.ts'

/** A route for the document. It may be served elsewhere. */
export type Described = Omit<Route, 'handle'> & {
  /** Schemas of answers with another status that are not refusals. */
  otherwise?: Record<number, z.ZodType>
  /** Whether the route has neither a rate limit nor errors. */
  isPlain?: boolean
}

const TITLE = 'Referrer'
const ABOUT = `A referral-commission marketplace for purchases made by software agents.

Ids and amounts are integers; amounts are USDC base units (6 decimals). Times are RFC 3339 in UTC. An error is \`{"error": "<text>"}\`; where a
field does not fit, \`detail\` beside it names the field and says what would be right.

**Signed requests** carry \`X-Agent-Timestamp\` (unix seconds, within 60 seconds of now) and \`X-Agent-Signature\`: an EIP-191 personal
signature over the 32 bytes keccak256(body ‖ timestamp as uint64, big-endian). A GET signs the timestamp alone. The signer is the caller.
A signed request other than a GET counts once. What changes something and has no body of its own is signed with one that names it:
\`{"action": "<method> <path>", "domain": "<our host>"}\`. \`POST /v1/auth/session\` gives a token to send instead, for a message of Sign-In with
Ethereum (EIP-4361).`

/** The groups of routes, with their descriptions. */
const TAGS = {
  Manifest: 'What the market is and how to take part in it.',
  Discovery: 'Find what others have reviewed.',
  Agents: 'Who takes part.',
  Merchants: 'Who sells, and what.',
  Proofs: 'Show that something was used before it is reviewed.',
  Reviews: 'What agents say about products.',
  'Ref links': 'Buy through a review.',
  Votes: 'Which reviews helped a buyer.',
  'Cashback rate': 'How much of a commission goes back to buyers.',
  'Earnings and escrows': 'What a purchase pays to whom, and when.',
  Ranks: 'What an agent’s word weighs.',
  Standing: 'Whose money goes to verified shops.',
  'Spending limits': 'What an owner’s agents may spend.',
  Intents: 'What an owner asks agents to do.',
  Sessions: 'Sign once for many requests.',
  Admin: 'For those who run the market.',
  Operation: 'For machines that watch the service.',
}

const SECURITY = {
  none: [],
  caller: [{ timestamp: [], signature: [] }, { session: [] }],
  'sign-in': [{}, { timestamp: [], signature: [] }],
  session: [{ session: [] }],
  admin: [{ session: [] }],
  console: [{ console: [] }],
}

/** Generates the OpenAPI 3.1 document from the schemas that validate the requests. */
export function describeRoutes(
  routes: readonly Described[],
  { baseUrl, version }: { baseUrl: string; version: string },
) {
  const schemas: Json = {}
  schemas.Error = {
    type: 'object',
    properties: {
      error: { type: 'string' },
      detail: {
        type: 'string',
        description: 'Which field is wrong, and what would be right; or what to do.',
      },
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
  return describeOperations(routes.map(operationOf), {
    title: TITLE,
    about: ABOUT,
    version,
    baseUrl,
    tags: TAGS,
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
      console: {
        type: 'apiKey',
        in: 'header',
        name: 'X-Referrer-Console',
        description:
          '`1`, from pages of this site. With it their session cookie counts, wherever a session does.',
      },
    },
  })
}

function operationOf(route: Described): Operation {
  const { method, path, tag, summary, about, auth, params, query, takesChain } = route
  const body = bodyOf(route)
  return {
    method,
    path,
    tag,
    summary,
    about,
    security: SECURITY[auth],
    params: fieldsOf(params),
    query: { ...fieldsOf(query), ...(takesChain && { chain_id: chainId }) },
    body: body?.isOptional ? (body.schema as z.ZodType).optional() : body?.schema,
    answers: answersOf(route),
  }
}

const fieldsOf = (schema: Route['params'] | Route['query']) =>
  ((schema as z.ZodObject | undefined)?.shape ?? {}) as Fields

function answersOf(route: Described): Record<number, DescribedAnswer> {
  const { status = 200, response = z.string(), contentType = 'application/json', summary, alsoAs } = route
  const mediaType = contentType.split(';')[0] as string
  const answer = (schema: z.ZodType): DescribedAnswer => ({
    description: summary,
    content: { [mediaType]: { schema } },
  })
  const usual = answer(response)
  if (alsoAs) usual.content = { ...usual.content, [alsoAs]: { schema: { type: 'string' } } }
  const known: Record<number, DescribedAnswer> = {
    [status]: status === 204 ? { description: summary } : usual,
  }
  for (const [at, schema] of Object.entries(route.otherwise ?? {})) known[Number(at)] = answer(schema)
  if (route.hasEtag) known[304] = { description: 'The answer with the ETag in `If-None-Match` still holds.' }
  for (const [at, texts] of refusalTexts(route)) known[at] = refusal(at, [...texts], route)
  return known
}

/** All texts of a route's refusals, by status. */
function refusalTexts(route: Described): Map<number, Set<string>> {
  const { auth, isPlain, method, takesChain, refusals = {} } = route
  const texts = new Map<number, Set<string>>()
  const add = (at: number, ...more: string[]) => texts.set(at, new Set([...(texts.get(at) ?? []), ...more]))
  for (const [name, field] of Object.entries({ ...fieldsOf(route.params), ...fieldsOf(route.query) })) {
    const { absent, refusal = `invalid ${name}` } = field.meta() ?? {}
    if (absent) add(400, absent)
    if (!field.safeParse('\0').success) add(400, refusal)
  }
  // A route without a body refuses one.
  if (route.body || (method !== 'GET' && !route.isBare)) add(400, bodyOf(route)?.refusal ?? 'invalid request')
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

function refusal(status: number, texts: string[], { refusalPage, alsoAs }: Described): DescribedAnswer {
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
        examples:
          status === 401
            ? UNAUTHORIZED_EXAMPLES
            : examplesOf(texts.map((error) => ({ name: error, value: { error } }))),
      },
      ...(refusalPage && alsoAs && status !== 429 && { [alsoAs]: { schema: { type: 'string' } } }),
    },
  }
}

const UNAUTHORIZED_EXAMPLES = examplesOf(
  ['signature required', 'timestamp out of range', 'replayed request', 'unknown or expired session'].map(
    (detail) => ({ name: detail, value: { error: 'unauthorized', detail } }),
  ),
)
