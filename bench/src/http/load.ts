import { connect, type Socket } from 'node:net'

export type Shot = { perSecond: number; p50Ms: number; p99Ms: number; answered: number }
export type Load = {
  url: string
  /** The next request as it goes over the wire; undefined: there are no more. */
  next: () => Buffer | undefined
  ms: number
  connections: number
}

const HEAD_END = '\r\n\r\n'
const LENGTH = /\r\ncontent-length: (\d+)/i

/** Sends one request after the other on every connection. Throws at the first answer that is neither 200 nor 201. */
export async function fire({ url, next, ms, connections }: Load): Promise<Shot> {
  const { hostname, port } = new URL(url)
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(hostname, Number(port))))
  const latencies: number[] = []
  const start = performance.now()
  const deadline = start + ms
  try {
    await Promise.all(sockets.map((socket) => keepBusy(socket, next, deadline, latencies)))
  } finally {
    for (const socket of sockets) socket.destroy()
  }
  const seconds = (performance.now() - start) / 1_000
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.ceil(latencies.length * share) - 1] ?? Number.NaN
  return {
    perSecond: latencies.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    answered: latencies.length,
  }
}

function open(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

function keepBusy(socket: Socket, next: Load['next'], deadline: number, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0
    let head: Buffer | undefined
    let missing = 0

    function send(): void {
      const now = performance.now()
      const request = now < deadline ? next() : undefined
      sentAt = now
      if (request) socket.write(request)
      else resolve()
    }

    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    socket.on('data', (chunk) => {
      if (missing > 0) {
        missing -= chunk.length
      } else {
        head = head ? Buffer.concat([head, chunk]) : chunk
        const end = head.indexOf(HEAD_END)
        if (end < 0) return
        const text = head.toString('latin1', 0, end)
        if (!text.startsWith('20', 9)) return reject(new Error(`not answered: ${head.subarray(0, 500)}`))
        const length = Number(LENGTH.exec(text)?.[1])
        missing = end + HEAD_END.length + length - head.length
        head = undefined
      }
      if (missing > 0) return
      // NaN, when there is no length, too.
      if (missing !== 0) return reject(new Error('an answer is not as long as it says'))
      latencies.push(performance.now() - sentAt)
      send()
    })
    send()
  })
}
