import { hash } from 'node:crypto'
import { clientOf } from '@referrer/net'
import { valuesIn } from '@referrer/process'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { prefersHtml } from '../../kit/accept.ts'
import { type BodyLimits, tooManyValues, USUAL_BODY } from '../../kit/body-limits.ts'
import { chainOf } from '../../kit/chain-of.ts'
import type { Chain, Context } from '../../kit/context.ts'
import { detailOf, NO_JSON, unknownFieldOf } from '../../kit/detail.ts'
import { chainId as chainIdField } from '../../kit/fields.ts'
import { PAGE_HEADERS } from '../../kit/html.ts'
import { MarketError, RateLimited } from '../../kit/market-error.ts'
import { countRefusal, kindOf } from '../../kit/refusals.ts'
import {
  Answer,
  accessOf,
  bodyLimitsOf,
  bodyOf,
  isPublic,
  needsName,
  type RefusalStatus,
  type Route,
  textOf,
  urlOf,
} from '../../kit/route.ts'
import { type Credentials, identify, readCredentials, Unauthenticated } from '../auth/caller.ts'
import { isNamed, unnamed } from '../auth/naming.ts'
import { requireRight } from '../auth/rights.ts'
import type { Holder } from '../auth/sessions.ts'
import { reading, writing } from '../reads.ts'
import { limit } from './limits.ts'

const STATUSES: Record<MarketError['kind'], RefusalStatus> = {
  'invalid input': 400,
  unauthorized: 403,
  'not found': 404,
  'already exists': 409,
  conflict: 409,
  'rate limited': 429,
  unavailable: 500,
}
const EMPTY = Buffer.alloc(0)
const JSON_TYPE = 'application/json; charset=utf-8'
const ETAG_LENGTH = 22

/** Idle time-out of a connection, added to the time limit for an answer. It also frees answers that the client does not read. */
export const SILENCE_MS = 5_000

/** Credentials of requests. They are checked before the body is read, so that callers without credentials cannot send one. */
const credentials = new WeakMap<FastifyRequest, Credentials>()

export function serveRoute(app: FastifyInstance, context: Context, route: Route): void {
  const handle = route.handle as (call: unknown) => unknown
  const { perSecond } = route
  const limiter =
    perSecond && context.limits.limiter(`${route.method} ${route.path}`, { perSecond, burst: perSecond })
  const status = route.status ?? 200
  const access = accessOf(route)
  const answerTimeoutMs = route.answerTimeoutMs ?? context.config.answerTimeoutMs

  app.route({
    method: route.method,
    url: urlOf(route),
    bodyLimit: bodyLimitsOf(route).bytes,
    config: { isPublic: isPublic(route) },
    onRequest: (request, reply, done) => {
      if (route.headers) reply.headers(route.headers)
      const go = () => {
        if (requireCredentials(request, reply)) done()
      }
      if (limiter) limit(limiter, request, reply, go)
      else go()
    },
    handler: (request, reply) => {
      // The connection is idle until the answer is ready. The next request on it gets the default time-out again.
      if (route.answerTimeoutMs) request.socket.setTimeout(answerTimeoutMs + SILENCE_MS)
      // Fastify's own time-out does not cover a request whose body has been read. The operation itself is not cancelled.
      const timer = setTimeout(
        () => refuse(new Error(`no answer within ${answerTimeoutMs} ms`), context, route, request, reply),
        answerTimeoutMs,
      )
      answerTo(request)
        .then((answer) => {
          clearTimeout(timer)
          if (!reply.sent) send(request, reply.code(status), route, answer)
        })
        .catch((error) => {
          clearTimeout(timer)
          if (!reply.sent) refuse(error, context, route, request, reply)
        })
    },
  })

  /** Keeps the credentials of the request; refuses it and returns false when they are missing or not valid. */
  function requireCredentials(request: FastifyRequest, reply: FastifyReply): boolean {
    if (route.auth === 'none') return true
    // Caches do not know our authentication headers and could answer one caller with another's answer.
    reply.header('cache-control', 'no-store')
    try {
      const given = readCredentials(context, request, route.auth)
      if (given) credentials.set(request, given)
      return true
    } catch (error) {
      refuse(error, context, route, request, reply)
      return false
    }
  }

  async function answerTo(request: FastifyRequest): Promise<unknown> {
    const holder = route.auth === 'none' ? undefined : await callerOf(context, route, request)
    const asked = {
      params: fields(route.params, request.params),
      query: fields(route.query, request.query),
      body: readBody(route, request.body),
      chain: chainIn(context, route, request.query),
    }
    if (holder) requireChainOf(holder, route, asked)
    const token = tokenOf(request)
    const hasName = token !== undefined || isNamed(context, route, request)
    if (needsName(route) && !hasName) throw unnamed(context, route, request)
    const client = clientOf(request.ip)
    const call = {
      context,
      caller: holder?.address,
      ...asked,
      isChainNamed: (request.query as Record<string, unknown>).chain_id !== undefined,
      token,
      isNamed: hasName,
      client,
      accept: request.headers.accept,
      userAgent: request.headers['user-agent'],
    }
    const asker = { client, address: holder?.address }
    if (access === 'write') return writing(context, asker, async () => handle(call))
    if (access === 'primary') return handle(call)
    return reading(context, asker, async (reader) => handle({ ...call, context: reader }))
  }
}

function send(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { contentType, hasEtag, maxAge }: Route,
  answer: unknown,
) {
  if (answer === undefined) return reply.send()
  if (answer instanceof Answer) {
    if (answer.status) reply.code(answer.status)
    if (answer.body !== undefined) reply.header('content-type', contentType ?? JSON_TYPE)
    return reply.headers(answer.headers).send(answer.body)
  }
  const body = typeof answer === 'string' || Buffer.isBuffer(answer) ? answer : JSON.stringify(answer)
  if (hasEtag) {
    const etag = `"${hash('sha256', body, 'base64url').slice(0, ETAG_LENGTH)}"`
    // `no-cache`: browsers may keep the answer and ask each time whether it is still the same.
    reply.headers({ etag, 'cache-control': maxAge ? `public, max-age=${maxAge}` : 'no-cache' })
    if (isKnown(headers['if-none-match'], etag)) return reply.code(304).send()
  }
  return reply.header('content-type', contentType ?? JSON_TYPE).send(body)
}

/** Whether the caller has the answer with this ETag. A proxy that compresses answers makes tags weak. */
const isKnown = (given: string | undefined, etag: string) =>
  given?.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim())) ?? false

function tokenOf(request: FastifyRequest): string | undefined {
  const given = credentials.get(request)
  return given && 'token' in given ? given.token : undefined
}

async function callerOf(context: Context, route: Route, request: FastifyRequest) {
  const given = credentials.get(request)
  if (!given || route.auth === 'console') return undefined
  const body = Buffer.isBuffer(request.body) ? request.body : EMPTY
  const target = () => targetOf(context, route, request)
  const caller = await identify(context, given, { method: request.method, target, body })
  if (route.auth === 'admin' && !context.config.adminAddresses.has(caller.address)) {
    throw new MarketError('unauthorized', 'not authorized')
  }
  requireRight(context, caller, route)
  return caller
}

/**
 * Refuses the session of a contract wallet on another chain than the one it signed in for, whether the query or the body names the chain.
 */
function requireChainOf(
  { chainId }: Holder,
  { takesChain, auth }: Route,
  { query, body, chain }: { query: unknown; body: unknown; chain: Chain },
): void {
  const isOfChain = takesChain || auth === 'admin'
  const named = Object(body).chain_id ?? Object(query).chain_id
  const asked: unknown = named ?? (isOfChain ? chain.config.chainId : undefined)
  if (chainId === undefined || asked === undefined || asked === chainId) return
  throw new Unauthenticated(
    `the session belongs to a contract wallet of chain ${chainId}: sign in on the chain that you request`,
  )
}

/** The normalized target of a request for replay protection: unknown query parameters and other spellings of values make no difference. */
function targetOf({ config }: Context, route: Route, { params, query }: FastifyRequest): string {
  const chainId = route.takesChain && read(chainIdField, (query as Record<string, unknown>).chain_id)
  const parts = [
    route.path,
    read(route.params, params),
    read(route.query, query),
    chainId ?? config.chains[0].chainId,
  ]
  return JSON.stringify(parts, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

/** Parses a value, or returns it unchanged when it is not valid; it is refused later. */
function read(schema: unknown, given: unknown): unknown {
  const result = (schema as z.ZodType | undefined)?.safeParse(given)
  return result?.success === false ? given : result?.data
}

/** Validates the parameters or the query; the refusal is that of the first bad field. */
function fields(schema: Route['params'] | Route['query'], given: unknown): unknown {
  if (!schema) return {}
  const result = (schema as z.ZodObject).safeParse(given)
  if (result.success) return result.data
  const name = String(result.error.issues[0]?.path[0])
  const { absent, refusal } = ((schema as z.ZodObject).shape[name] as z.ZodType | undefined)?.meta() ?? {}
  const text = (given as Record<string, unknown>)[name] ? refusal : (absent ?? refusal)
  throw new MarketError('invalid input', text ?? `invalid ${name}`)
}

function readBody(route: Route, given: unknown): unknown {
  // A bare route reads what it knows of a body, and the others are refused what they would not look at.
  const taken = route.isBare ? route.body : bodyOf(route)
  const isEmpty = !Buffer.isBuffer(given) || given.length === 0
  if (!taken) {
    if (isEmpty || route.isBare) return undefined
    throw new MarketError('invalid input', 'invalid request', {
      detail: 'this route takes no body: send none',
    })
  }
  const { schema, refusal, isOptional } = taken as { schema: z.ZodType; refusal: string; isOptional?: true }
  if (isOptional && isEmpty) return undefined
  let json: unknown
  try {
    json = jsonOf(given, bodyLimitsOf(route))
  } catch (error) {
    const detail = error instanceof RangeError ? error.message : NO_JSON
    throw new MarketError('invalid input', refusal, { detail })
  }
  const result = schema.safeParse(json)
  if (result.success) return result.data
  throw new MarketError('invalid input', refusal, { detail: detailOf(schema, result.error, json) })
}

/** Throws a `RangeError` for JSON with too many values, which is not parsed. */
function jsonOf(given: unknown, most: BodyLimits): unknown {
  const bytes = Buffer.isBuffer(given) ? given : EMPTY
  if (valuesIn(bytes) > most.values) throw new RangeError(tooManyValues(most))
  return JSON.parse(UTF8.decode(bytes))
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function chainIn(context: Context, { takesChain }: Route, query: unknown): Chain {
  const given = takesChain ? (query as Record<string, unknown>).chain_id : undefined
  const chainId = given === undefined ? undefined : chainIdField.safeParse(given)
  if (chainId?.success === false) throw new MarketError('invalid input', 'invalid chain_id')
  return chainOf(context, chainId?.data)
}

function refuse(
  error: unknown,
  context: Context,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const isUnknown = error instanceof Unauthenticated
  countRefusal(context, 'http', isUnknown ? 'unauthenticated' : kindOf(error))
  if (isUnknown) {
    return reply.code(401).send({ error: 'unauthorized', detail: error.message })
  }
  if (error instanceof RateLimited) {
    reply.header('retry-after', error.retryAfterSeconds)
    return reply.code(429).send({ error: 'rate limited', detail: error.detail })
  }
  const status = error instanceof MarketError ? STATUSES[error.kind] : 500
  if (status === 500) request.log.error({ reqId: request.id, err: error }, 'a request failed')
  if (route.refusalPage && prefersHtml(request.headers.accept)) {
    return reply.code(status).headers(PAGE_HEADERS).send(route.refusalPage(context, status))
  }
  const detail = status === 500 ? undefined : detailOfRefusal(error as MarketError, route, request)
  const text = textOf(route, status, (error as Error).message)
  return reply.code(status).send({ error: text, ...(detail !== undefined && { detail }) })
}

function detailOfRefusal({ detail }: MarketError, route: Route, request: FastifyRequest) {
  const { body } = route
  if (detail !== undefined || !body) return detail
  // To parse a large body once more would cost more than the hint is worth.
  if (Buffer.isBuffer(request.body) && request.body.length > USUAL_BODY.bytes) return undefined
  try {
    return unknownFieldOf(body.schema as z.ZodType, jsonOf(request.body, bodyLimitsOf(route)))
  } catch {
    // The body is not JSON, or too much of it; the request was refused for another reason before the body was parsed.
    return undefined
  }
}
