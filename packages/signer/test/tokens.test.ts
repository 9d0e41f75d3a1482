// What it costs a model to know the tools of the marketplace and of the signer.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestMarket, type TestMarket } from '../../service/test/http/market.ts'
import { connectMcp, type McpCaller } from '../../service/test/mcp/client.ts'
import { startSigner, type TestSigner } from './signer.ts'
import { costOf, tableOf } from './tokens.ts'

const MOST = 12_000

let market: TestMarket
let mcp: McpCaller
let signer: TestSigner
beforeAll(async () => {
  market = await startTestMarket()
  mcp = await connectMcp(market)
  signer = await startSigner({ AGENT_PRIVATE_KEY: `0x${'11'.repeat(32)}` })
})
afterAll(async () => {
  await signer?.close()
  await mcp?.close()
  await market?.close()
})

it(`the tools and the instructions of both servers take at most ${MOST} tokens`, async () => {
  const costs = [await costOf(mcp.client), await costOf(signer.client)]
  for (const { parts } of costs) expect(parts.length).toBeGreaterThan(10)
  const total = costs.reduce((sum, cost) => sum + cost.total, 0)
  const table = tableOf(costs.flatMap(({ parts }) => parts))
  expect(total, `${total} tokens are too many:\n${table}\n`).toBeLessThanOrEqual(MOST)
})
