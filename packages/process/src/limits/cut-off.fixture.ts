// A way to a Postgres server that can be cut, so that programs lose the database and tests keep it.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '@referrer/net/free-port'

export interface WayToPostgres {
  url: string
  /** As when the server ends: connections close, and new ones are refused. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Connections stay, and nothing passes. */
  freeze(): void
  thaw(): void
}

export async function openWay(databaseUrl: string): Promise<WayToPostgres> {
  const target = new URL(databaseUrl)
  const host = decodeURIComponent(target.hostname)
  const port = Number(target.port || 5_432)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((near) => {
    const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.on('data', (bytes) => other.write(bytes))
      if (isFrozen) socket.pause()
    }
  })
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
  }

  const own = await freePort()
  await listen(own)
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(own)
  return {
    url: url.href,
    async kill() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
    start: () => listen(own),
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      isFrozen = false
      for (const socket of sockets) socket.resume()
    },
  }
}
