// Handling of requests before routing, shared by the HTTP servers of all programs.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

const REQUEST_ID = /^[\w.-]{1,64}$/

const CLIENT_ERRORS = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, text: 'Request Timeout', error: 'request timeout' }],
  [
    'HPE_HEADER_OVERFLOW',
    { status: 431, text: 'Request Header Fields Too Large', error: 'request headers too large' },
  ],
])
const BAD_REQUEST = { status: 400, text: 'Bad Request', error: 'bad request' }

/** The caller's `X-Request-Id` where it is valid, else a new one. */
export function requestIdOf({
  headers: { 'x-request-id': given },
}: Pick<IncomingMessage, 'headers'>): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** Answers a connection whose request could not be parsed or did not arrive in time. For Node's `clientError` event. */
export function refuseConnection(
  error: NodeJS.ErrnoException,
  socket: Socket,
  bodyOf: (told: { status: number; error: string }) => object = ({ error }) => ({ error }),
): void {
  const { text, ...told } = CLIENT_ERRORS.get(error.code ?? '') ?? BAD_REQUEST
  const body = JSON.stringify(bodyOf(told))
  const head = `HTTP/1.1 ${told.status} ${text}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}`
  if (socket.writable && error.code !== 'ECONNRESET')
    socket.write(`${head}\r\nConnection: close\r\n\r\n${body}`)
  socket.destroy(error)
}
