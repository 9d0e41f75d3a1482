import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type Counter = { url: string; calls(): number; close(): Promise<void> }

/** A way to the node on which the calls are counted, those of a batch each. */
export async function startCounter(nodeUrl: string): Promise<Counter> {
  const agent = new Agent({ keepAlive: true })
  let calls = 0
  const server = createServer(async (asked, answered) => {
    const body = await buffer(asked)
    const parsed: unknown = JSON.parse(body.toString())
    calls += Array.isArray(parsed) ? parsed.length : 1
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    request(nodeUrl, { method: 'POST', headers, agent }, (response) => {
      answered.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answered)
    })
      .on('error', (error) => answered.destroy(error))
      .end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      agent.destroy()
    },
  }
}
