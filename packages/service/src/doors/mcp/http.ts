// The door of the MCP server: streamable HTTP without sessions. Every message is a request of its own, answered with JSON.
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { clientOf } from '@referrer/net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../kit/context.ts'
import type { Tool } from '../../kit/tool.ts'
import { isBounded } from './bounded.ts'
import { createCalls } from './calls.ts'
import { listed } from './listed.ts'
import { createMcpServer, type Offered } from './server.ts'

const PATH = '/mcp'
/** Whom the limits count for; put in by us, whatever the caller sends. */
const CLIENT = 'x-referrer-client'

/** For pages of the console. */
const PREFLIGHT = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'content-type, accept, mcp-protocol-version, mcp-method, mcp-name',
  'access-control-max-age': '600',
}
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600

export function mcpRoutes(app: FastifyInstance, context: Context, tools: readonly Tool[]): void {
  const offered: Offered = { listedTools: tools.map(listed), callTool: createCalls(context, tools) }
  // For the log, in which every call has the same path.
  const operations = new Map(
    tools.map(({ name, isReadOnly = false }) => [name, { name, isRead: isReadOnly }]),
  )
  const operationOf = (message: unknown): FastifyRequest['operation'] => {
    const { method, params } = Object(message) as Record<string, unknown>
    return method === 'tools/call' ? operations.get(Object(params).name) : undefined
  }
  app.decorateRequest('operation', undefined)
  const strangerOf = doorkeeper(context)
  const modern = createMcpHandler(
    ({ requestInfo }) => createMcpServer(context, offered, requestInfo?.headers.get(CLIENT) ?? ''),
    {
      legacy: 'reject',
      // Nothing that is listed ever changes while the service runs.
      maxSubscriptions: 0,
      onerror: (err) => context.log.debug({ err }, 'an MCP request was refused'),
    },
  )
  app.addHook('onClose', () => modern.close())

  app.post(PATH, async (request, reply) => {
    const stranger = strangerOf(request.headers)
    if (stranger !== undefined) return refuse(reply, 403, INVALID_REQUEST, stranger)
    const body = parsed(request.body)
    if (body === undefined) return refuse(reply, 400, PARSE_ERROR, 'the body is no JSON')
    // The limits count requests: many messages in one would pass them all.
    if (Array.isArray(body)) return refuse(reply, 400, INVALID_REQUEST, 'send one message per request')
    request.operation = operationOf(body)
    if (!isBounded(body, (request.body as Buffer).length)) {
      return refuse(reply, 413, INVALID_REQUEST, 'too long: only the arguments of a tool may be')
    }
    const asked = webRequest(request)
    const isOld = await isLegacyRequest(asked, body)
    return send(
      reply,
      isOld
        ? await answerOld(context, offered, asked, body)
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
  // There are no streams to open and no sessions to end.
  app.route({
    method: ['GET', 'DELETE'],
    url: PATH,
    handler: (_request, reply) =>
      refuse(reply.header('allow', 'POST'), 405, -32_000, 'method not allowed: POST one message'),
  })
}

/** For clients of the protocol before its revision of 2026. */
async function answerOld(
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

/** Says why a caller is not let in; undefined: it is. */
function doorkeeper(context: Context): (headers: FastifyRequest['headers']) => string | undefined {
  const names = namesOf(context)
  // Almost everybody calls by the same name, and to take it apart costs as much as the rest of the door.
  let known: string | undefined
  return ({ host, origin }) => {
    if (host !== known || host === undefined) {
      const checked = validateHostHeader(host, names.hosts)
      if (!checked.ok) return checked.message
      known = host
    }
    if (origin === undefined) return undefined
    const checked = validateOriginHeader(origin, names.origins)
    return checked.ok ? undefined : checked.message
  }
}

/**
 * A page that a browser shows may give its own name our address and call us from there: names that are not ours are refused. Programs
 * send no origin.
 */
function namesOf({ config }: Context): { hosts: string[]; origins: string[] } {
  const own = new URL(config.publicUrl).hostname
  const local = localhostAllowedHostnames()
  return {
    hosts: [own, ...local, ...config.mcpHosts],
    origins: [
      own,
      ...config.consoleOrigins.map((origin) => new URL(origin).hostname),
      ...(local.includes(own) ? local : []),
    ],
  }
}

function parsed(body: unknown): unknown {
  try {
    return JSON.parse(String(body))
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
