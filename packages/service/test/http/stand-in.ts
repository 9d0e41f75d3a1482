// A server that answers like a facilitator: the service knows only a facilitator's address.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const CHARGED = {
  success: true,
  transaction: `0x${'cd'.repeat(32)}`,
  network: 'eip155:31337',
  payer: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
}

export interface StandIn {
  url: string
  /** The requests it got. */
  asked: { method: string | undefined; path: string | undefined; body: unknown }[]
  answer: (response: ServerResponse) => void
  close(): Promise<void>
}

export async function startStandIn(): Promise<StandIn> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = JSON.parse(Buffer.concat(chunks).toString())
    standIn.asked.push({ method: request.method, path: request.url, body })
    standIn.answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    answer: (response) => response.setHeader('content-type', 'application/json').end(JSON.stringify(CHARGED)),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
  return standIn
}
