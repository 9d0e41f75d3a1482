// The HTTP endpoint of the MCP server: streamable HTTP without sessions. Every message is a separate request, answered with JSON.
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { clientOf } from '@referrer/net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LARGEST_BODY } from '../../kit/body-limits.ts'
import type { Context } from '../../kit/context.ts'
import type { Tool } from '../../kit/tool.ts'
import type { CallerCheck } from './caller-check.ts'
import type { CallTool } from './calls.ts'
import { explained, listed } from './listed.ts'
import { excessFor, excessOf, sizeOf } from './message-size.ts'
import { createMcpServer, type Offered } from './server.ts'

const PATH = '/mcp'
/** Internal header with the client's key for rate limits. It overwrites a header of that name from the caller. */
const CLIENT = 'x-referrer-client'

/** CORS headers for the console's web pages. */
const PREFLIGHT = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'content-type, accept, mcp-protocol-version, mcp-method, mcp-name',
  'access-control-max-age': '600',
}
const EMPTY = Buffer.alloc(0)
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600

/** What the doors for programs have in common. */
export interface ForPrograms {
  tools: readonly Tool[]
  callTool: CallTool
  problemOf: CallerCheck
}

export function mcpRoutes(
  app: FastifyInstance,
  context: Context,
  { tools, callTool, problemOf }: ForPrograms,
): void {
  const offered: Offered = {
    listedTools: tools.map(listed),
    explainedTools: new Map(tools.map((tool) => [tool.name, JSON.stringify(explained(tool))])),
    callTool,
  }
  // The names of the tools are logged, because all calls have the same path.
  const operations = new Map(
    tools.map(({ name, most, isReadOnly = false }) => [name, { name, most, isRead: isReadOnly }]),
  )
  const operationOf = (message: unknown): FastifyRequest['operation'] => {
    const { method, params } = Object(message) as Record<string, unknown>
    return method === 'tools/call' ? operations.get(Object(params).name) : undefined
  }
  app.decorateRequest('operation', undefined)
  const modern = createMcpHandler(
    ({ requestInfo }) => createMcpServer(context, offered, requestInfo?.headers.get(CLIENT) ?? ''),
    {
      legacy: 'reject',
      // The lists of tools, prompts and resources do not change while the service runs.
      maxSubscriptions: 0,
      onerror: (err) => context.log.debug({ err }, 'an MCP request was refused'),
    },
  )
  app.addHook('onClose', () => modern.close())

  app.post(PATH, { bodyLimit: LARGEST_BODY.bytes }, async (request, reply) => {
    const problem = problemOf(request.headers)
    if (problem !== undefined) return refuse(reply, 403, INVALID_REQUEST, problem)
    const bytes = Buffer.isBuffer(request.body) ? request.body : EMPTY
    const size = sizeOf(bytes)
    const excess = excessOf(size)
    if (excess !== undefined) return refuse(reply, 413, INVALID_REQUEST, excess)
    const body = parsed(bytes)
    if (body === undefined) return refuse(reply, 400, PARSE_ERROR, 'the body is not JSON')
    // Batches are refused, because the rate limit counts requests.
    if (Array.isArray(body)) return refuse(reply, 400, INVALID_REQUEST, 'send one message per request')
    request.operation = operationOf(body)
    const tooMuch = excessFor(operations, body, size)
    if (tooMuch !== undefined) return refuse(reply, 413, INVALID_REQUEST, tooMuch)
    const asked = webRequest(request)
    const isLegacy = await isLegacyRequest(asked, body)
    return send(
      reply,
      isLegacy
        ? await answerLegacy(context, offered, asked, body)
        : await modern.fetch(asked, { parsedBody: body }),
    )
  })
  app.options(PATH, (request, reply) => {
    const { origin = '' } = request.headers
    if (context.config.consoleOrigins.includes(origin)) {
      reply.headers({ ...PREFLIGHT, 'access-control-allow-origin': origin, vary: 'Origin' })
    }
    return reply.code(204).send()
  })
  // GET would open a stream and DELETE end a session; this server has neither.
  app.route({
    method: ['GET', 'DELETE'],
    url: PATH,
    handler: (_request, reply) =>
      refuse(reply.header('allow', 'POST'), 405, -32_000, 'method not allowed: POST one message'),
  })
}

/** Answers clients of protocol versions before 2026. */
async function answerLegacy(
  context: Context,
  offered: Offered,
  request: Request,
  parsedBody: unknown,
): Promise<Response> {
  const server = createMcpServer(context, offered, request.headers.get(CLIENT) ?? '')
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  return transport.handleRequest(request, { parsedBody })
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

function webRequest({ headers: given, ip }: FastifyRequest): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !name.startsWith(':')) headers.set(name, String(value))
  }
  headers.set(CLIENT, clientOf(ip))
  return new Request(`http://service${PATH}`, { method: 'POST', headers })
}

async function send(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  reply.code(response.status).header('cache-control', 'no-store')
  const type = response.headers.get('content-type')
  if (type) reply.header('content-type', type)
  return reply.send(response.body ? Buffer.from(await response.arrayBuffer()) : undefined)
}

const refuse = (reply: FastifyReply, status: number, code: number, message: string) =>
  reply.code(status).send({ jsonrpc: '2.0', error: { code, message }, id: null })
