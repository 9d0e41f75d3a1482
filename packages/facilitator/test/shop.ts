import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface TestShop {
  /** Where the ref link leads. */
  url: string
  /** What it answers with 402; undefined: it hangs up. */
  offer: object | undefined
  close(): Promise<void>
}

/** The endpoint of a merchant that only tells its price. */
export async function startTestShop(): Promise<TestShop> {
  const server = createServer((request, response) => {
    if (!shop.offer) return void request.socket.destroy()
    const token = request.headers['x-referrer-token'] ?? ''
    const body = { x402Version: 2, accepts: [shop.offer], extensions: { attributionToken: token } }
    response.writeHead(402, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const shop: TestShop = {
    url: `http://127.0.0.1:${port}/buy`,
    offer: {},
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
  return shop
}
