// What the runner does after a purchase whose intent asks for a review.
import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { intentsOf } from '../../service/test/mcp/intents.ts'
import { type Marketplace, PRICE, startMarketplace } from './marketplace.ts'
import { type Relay, startRelay, startRunner } from './runner.ts'
import { newStateDir } from './signer.ts'

const WRITER = `"${process.execPath}" '${fileURLToPath(new URL('./writer.ts', import.meta.url))}'`
const PROGRAM = new URL('./program.ts', import.meta.url)
const CONTENT = { rating: 4, description: 'It made me laugh twice.' }

let place: Marketplace
let relay: Relay
let its: ReturnType<typeof intentsOf>
let agentId: bigint
let stateDir: string
let seen: string
const files: string[] = []

beforeAll(async () => {
  place = await startMarketplace()
  relay = await startRelay(place.m.service.url)
  agentId = BigInt(place.agentId)
  its = intentsOf(place.m, place.mcp, place.m.market.accounts.buyer)
})
afterAll(async () => {
  await relay?.close()
  await place?.close()
  for (const file of files) await rm(file, { recursive: true, force: true })
})
beforeEach(() => {
  relay.before = undefined
  stateDir = newStateDir()
  seen = join(tmpdir(), `referrer-writer-${randomUUID()}`)
  files.push(stateDir, seen)
})

let keys = 0
const queue = () => {
  keys += 1
  const payload = { ref_link: place.refLink, max_amount: String(PRICE), idempotency_key: `review ${keys}` }
  return its.queue(agentId, { payload: { ...payload, review: true } })
}

const vote = () => ({
  review_id: Number(place.other.internalId),
  reasoning: 'It named the weak spot.',
})

const start = (args: string[], answers: unknown[] = [], env: Record<string, string> = {}) =>
  startRunner(
    {
      ...place.env,
      REFERRER_AGENT_MCP_URL: `${relay.url}/mcp`,
      SIGNER_STATE_DIR: stateDir,
      MAX_PER_DAY: 'unlimited',
      ANSWERS: JSON.stringify(answers),
      SEEN: seen,
      ...env,
    },
    ['--agent', String(agentId), '--once', ...args],
    PROGRAM,
  )

async function once(
  args: string[],
  answers: unknown[] = [],
  env: Record<string, string> = {},
): Promise<[number | null, string]> {
  const runner = await start(args, answers, env)
  return [await runner.ended, runner.said()]
}

/** What the writer was asked. */
const asked = async () =>
  (await readFile(seen, 'utf8').catch(() => ''))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

const published = async () => {
  const { client, addresses } = place.m.market
  const call = { address: addresses.ReviewRegistry, abi: reviewRegistryAbi } as const
  return Number(await client.readContract({ ...call, functionName: 'lastReviewId' }))
}
const shown = async (review_id: number) => (await place.mcp.call('get_review', { review_id })).structured

it('a command writes it from one document; the runner votes, publishes, and does so once', async () => {
  const before = await published()
  const intentId = await queue()
  const [code, said] = await once(['--review-with', WRITER], [{ votes: [vote()], content: CONTENT }])
  expect([code, said]).toEqual([0, expect.stringContaining(`review ${before + 1} is published, 1 vote cast`)])
  expect((await its.statusOf(agentId, intentId)).status).toBe('executed')
  expect(await shown(before + 1)).toMatchObject({ content_json: CONTENT, agent_id: Number(agentId) })

  const [{ document, env }, ...more] = await asked()
  expect(more).toEqual([])
  expect(document).toMatchObject({
    purchase: {
      intent_id: intentId,
      agent_id: String(agentId),
      amount: String(PRICE),
      transaction: expect.stringMatching(/^0x/),
      resource: { body: expect.stringContaining('a good one') },
    },
    product: { product_id: place.link.product.productId },
    votes: { needed: true },
    problem: null,
  })
  // Neither the review that was paid through nor one's own.
  expect(document.reviews.map(({ review_id }: { review_id: number }) => review_id)).toEqual([
    vote().review_id,
  ])
  expect(Date.parse(document.deadline)).toBeGreaterThan(Date.now())
  expect(Object.keys(env).filter((name) => name in place.env)).toEqual([])
  expect(JSON.stringify(env)).not.toContain(place.env.AGENT_KEYS?.split(':')[1])

  expect((await once(['--review-with', WRITER]))[0]).toBe(0)
  expect([await published(), (await asked()).length]).toEqual([before + 1, 1])
})

it.each<[string, () => unknown, RegExp]>([
  ['is no review', () => ({ text: 'fine' }), /content/],
  ['lacks the vote that is needed', () => ({ content: CONTENT }), /needs a vote/],
  [
    'votes for a review of something else',
    () => ({ votes: [{ ...vote(), review_id: 999 }], content: CONTENT }),
    /999/,
  ],
  [
    'is not what the marketplace takes',
    () => ({ votes: [vote()], content: { rating: 9, description: '' } }),
    /rating/,
  ],
])('an answer that %s is asked for once more, with the problem', async (_, bad, problem) => {
  const before = await published()
  await queue()
  const [code, said] = await once(['--review-with', WRITER], [bad(), { votes: [vote()], content: CONTENT }])
  expect([code, said]).toEqual([0, expect.stringContaining('the writer is asked again')])
  const [first, second, ...more] = await asked()
  expect([first.document.problem, second.document.problem]).toEqual([null, expect.stringMatching(problem)])
  expect(more).toEqual([])
  expect(await published()).toBe(before + 1)
})

it('is tried again later, also by another process, when it could not be written', async () => {
  const before = await published()
  await queue()
  const [code, said] = await once(['--review-with', `${process.execPath} -e "process.exit(3)"`])
  expect([code, said]).toEqual([
    1,
    expect.stringContaining('is tried again in 1 min: the review command ended with 3'),
  ])
  const good = [{ votes: [vote()], content: CONTENT }]
  expect((await once(['--review-with', WRITER], good))[0]).toBe(1)
  expect([await published(), await asked()]).toEqual([before, []])
  expect(await once(['--review-with', WRITER], good, { AHEAD_MS: '61000' })).toEqual([
    0,
    expect.stringContaining('is published'),
  ])
  expect(await published()).toBe(before + 1)
})

it('waits for a writer where there is none', async () => {
  await queue()
  const [code, said] = await once([])
  expect([code, said]).toEqual([1, expect.stringContaining('needs --review-with or --review-mcp')])
  expect((await once(['--review-with', WRITER], [{ votes: [vote()], content: CONTENT }]))[0]).toBe(0)
})

it('is brought to the marketplace when the runner was killed after it had published', async () => {
  const before = await published()
  await queue()
  const good = [{ votes: [vote()], content: CONTENT }]
  const dying = await start(['--review-with', WRITER], good)
  relay.before = (body) => {
    if (!body.includes('"register_purchase_review"')) return undefined
    dying.kill()
    return false
  }
  expect(await dying.ended).toBeNull()
  relay.before = undefined
  expect(await published()).toBe(before + 1)
  await place.m.indexed()
  expect((await shown(before + 1)).status).toBe('pending')
  expect((await once(['--review-with', WRITER], good))[0]).toBe(0)
  expect(await published()).toBe(before + 1)
  expect(await shown(before + 1)).toMatchObject({ status: 'published', content_json: CONTENT })
  expect(await asked()).toHaveLength(1)
})

it('is published once by runners on two machines', async () => {
  const before = await published()
  await queue()
  const good = [{ votes: [vote()], content: CONTENT }]
  const elsewhere = newStateDir()
  files.push(elsewhere)
  const dying = await start(['--review-with', WRITER], good)
  relay.before = (body) => {
    if (!body.includes('"mark_intent_executed"')) return undefined
    dying.kill()
    return false
  }
  await dying.ended
  relay.before = undefined
  expect((await once(['--review-with', WRITER], good, { SIGNER_STATE_DIR: elsewhere }))[0]).toBe(0)
  expect(await once(['--review-with', WRITER], good)).toEqual([
    0,
    expect.stringContaining('was published by another runner'),
  ])
  expect([await published(), (await asked()).length]).toEqual([before + 1, 1])
})

it('an MCP server writes it with the tool write_review, started by a command', async () => {
  const before = await published()
  await queue()
  const args = ['--review-mcp', `${WRITER} --mcp`]
  expect(await once(args, [{ votes: [vote()], content: CONTENT }])).toEqual([
    0,
    expect.stringContaining(`review ${before + 1} is published`),
  ])
  const [{ document, env }] = await asked()
  expect(document.purchase.agent_id).toBe(String(agentId))
  expect(Object.keys(env).filter((name) => name in place.env)).toEqual([])
})

it('an MCP server writes it with the tool write_review, at a URL', async () => {
  const before = await published()
  await queue()
  const documents: Record<string, unknown>[] = []
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'writer', version: '1' })
    server.registerTool('write_review', { inputSchema: z.looseObject({}) }, async (document) => {
      documents.push(document)
      const structuredContent = { votes: [vote()], content: CONTENT }
      return { structuredContent, content: [] }
    })
    return server
  })
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method = 'GET', headers } = incoming
    const body = Buffer.concat(chunks)
    const request = new Request(`http://${headers.host}/mcp`, {
      method,
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    })
    const answer = await handler.fetch(request)
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers))
    outgoing.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  const [code, said] = await once(['--review-mcp', url])
  expect([code, said]).toEqual([0, expect.stringContaining(`review ${before + 1} is published`)])
  expect(documents).toHaveLength(1)
  await handler.close()
  server.closeAllConnections()
  server.close()
})
