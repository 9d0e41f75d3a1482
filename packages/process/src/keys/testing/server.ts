import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import { freePort } from '@referrer/net/free-port'

export interface StandIn {
  url: string
  /** Ends it as a crash does: connections break. */
  kill(): Promise<void>
  /** Lets it listen again, on the same port. */
  revive(): Promise<void>
  close(): Promise<void>
}

export interface Asked {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

export interface Answered {
  status: number
  type?: string
  body?: string
}

/** `tls`: with it the server asks for certificates, as `https.createServer` does. */
export async function serve(
  answer: (asked: Asked) => Answered | undefined | Promise<Answered | undefined>,
  tls?: ServerOptions,
): Promise<StandIn> {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const { method = '', url: path = '', headers } = request
    const answered = await answer({ method, path, headers, body: Buffer.concat(parts).toString() })
    // Without an answer the caller waits until it gives up.
    if (!answered) return
    const { status, type = 'text/plain; charset=utf-8', body = '' } = answered
    response.writeHead(status, { 'content-type': type }).end(body)
  }
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void handle(request, response).catch(() => response.destroy())
  const server: Server = tls ? createSecureServer(tls, listener) : createServer(listener)
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
  const port = await freePort()
  await listen(port)
  const kill = async () => {
    if (!server.listening) return
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    kill,
    revive: () => listen(port),
    close: kill,
  }
}
