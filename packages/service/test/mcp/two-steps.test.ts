// What all tools in two steps have in common.
import { listProduct } from '@referrer/contracts/local'
import { type LocalAccount, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setAgentWallet } from '../calls.ts'
import { send } from '../http/chain.ts'
import { pledgeBody } from '../http/commitments.ts'
import { NO_WORK, productOf, SILENT_BOT } from '../http/market.ts'
import { ballotOf, startVoting, type Voting } from '../http/voting.ts'
import { connectMcp, type McpCaller } from './client.ts'
import { EXECUTED, intentsOf, POLL, SKIPPED } from './intents.ts'
import { TWO_STEPS } from './names.ts'
import { approved, argsOf, type Desk, published } from './submitting.ts'
import { signedArgs } from './two-steps.ts'

const HOUR = 3_600
const OWNER_OF = toFunctionSelector('ownerOf(uint256)')

let v: Voting
let mcp: McpCaller
let owner: LocalAccount
/** The wallet that the agent is bound to. */
let bound: LocalAccount
let desk: Desk
let its: ReturnType<typeof intentsOf>
/** While set, the service's clock stands still at this time. */
let stoppedAt: number | undefined

beforeAll(async () => {
  v = await startVoting({ env: SILENT_BOT, overrides: { ...NO_WORK, clock: () => stoppedAt ?? Date.now() } })
  const { m, product, buyer } = v
  // The reviews of the vote were published with the first ids.
  await m.sql`SELECT setval(pg_get_serial_sequence('market.proofs', 'proof_id'), 1000)`
  mcp = await connectMcp(m)
  ;({ owner } = buyer)
  bound = m.market.accounts.admin
  desk = { m, mcp, product, ...buyer }
  its = intentsOf(m, mcp, owner)
  const { timestamp } = await m.market.client.getBlock()
  await send(m, await setAgentWallet(m, owner, { agentId: buyer.agentId, wallet: bound }, timestamp))
})
afterAll(async () => {
  await mcp.close()
  await v.m.close()
})

type Args = Record<string, unknown>
let products = 1
const agent = () => ({ agent_id: Number(v.buyer.agentId) })

/** Arguments that were not used before, by tool; all are about the buyer's agent. */
const ARGS: Record<string, () => Promise<Args>> = {
  cast_review_votes: async () => ballotOf(v, (await v.bought()).escrowId),
  set_cashback_rate: async () => pledgeBody({ agentId: v.buyer.agentId, bps: 500 }),
  submit_review: async () => {
    const product = { ...v.product, productId: productOf(++products) }
    await listProduct(v.m.market, v.m.market.accounts.merchant, product)
    await v.m.indexed()
    return { ...argsOf(desk, await approved(desk, product)) }
  },
  link_messenger: async () => agent(),
  [POLL]: async () => agent(),
  [EXECUTED]: async () => ({ ...agent(), intent_id: await its.queue(v.buyer.agentId) }),
  [SKIPPED]: async () => ({ ...agent(), intent_id: await its.queue(v.buyer.agentId), reason: 'too dear' }),
}
const argumentsOf = (tool: string): Promise<Args> => {
  const make = ARGS[tool]
  if (!make) throw new Error(`no arguments for ${tool}`)
  return make()
}

/** Everything that only the service knows, by table, and how many transactions it wants to send. */
async function stored(): Promise<object> {
  const tables = await v.m.sql<{ name: string }[]>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'market'`
  const sums = tables.map(
    ({ name }) => `(SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM ${name} t) AS "${name}"`,
  )
  const [row] = await v.m.sql.unsafe(`SELECT (SELECT count(*) FROM sender.intents), ${sums.join(', ')}`)
  return { ...row }
}

/** The second call, which has to succeed. Waits until a review is on the chain, because the tables change until then. */
async function succeed(tool: string, signed: Args): Promise<void> {
  const { isError, text, structured } = await mcp.call(tool, signed)
  if (isError) throw new Error(`${tool} was refused: ${text}`)
  if (tool === 'submit_review') await published(desk, structured.review_id)
}

it('are the tools that take a signature', async () => {
  const { tools } = await mcp.client.listTools()
  const signed = tools.filter(({ inputSchema }) => inputSchema.properties?.agent_sig)
  expect(signed.map(({ name }) => name).sort()).toEqual([...TWO_STEPS].sort())
})

describe.each(TWO_STEPS)('%s', (tool) => {
  it('refuses the wallet that the agent is bound to, stores nothing, and takes the owner [AUTH-23 otherwise]', async () => {
    const args = await argumentsOf(tool)
    const byWallet = await signedArgs(mcp, tool, bound, args)
    const before = await stored()
    const { isError, text } = await mcp.call(tool, byWallet)
    expect([isError, text]).toEqual([
      true,
      expect.stringMatching(/signature not from agent owner|unauthorized/),
    ])
    expect(await stored()).toEqual(before)
    await succeed(tool, await signedArgs(mcp, tool, owner, args))
  })

  it('gives one hour between the two calls, and no second more [LIM-03]', async () => {
    const args = await argumentsOf(tool)
    const signed = await signedArgs(mcp, tool, owner, args)
    const now = Math.floor(Date.now() / 1_000)
    try {
      stoppedAt = now * 1_000
      expect((await mcp.call(tool, args)).structured.expiry - now).toBe(HOUR)
      stoppedAt = (signed.expiry + 1) * 1_000
      expect(await mcp.call(tool, signed)).toMatchObject({
        isError: true,
        text: expect.stringMatching(/^commitment expired\b/),
      })
    } finally {
      stoppedAt = undefined
    }
    await succeed(tool, signed)
  })
})

describe('a failure that passes', () => {
  const OWNER = 'resolve owner on-chain'
  /** Nobody can ask the chain for the owner of an agent. */
  const withoutNodes = async <T>(work: () => Promise<T>): Promise<T> => {
    v.m.nodes.only = OWNER_OF
    try {
      return await work()
    } finally {
      v.m.nodes.only = undefined
    }
  }
  const without =
    (table: string) =>
    <T>(work: () => Promise<T>) =>
      v.m.withoutTable(table, work)

  it.each<[string, string, <T>(work: () => Promise<T>) => Promise<T>]>([
    [POLL, 'get pending intents', without('market.intents')],
    [EXECUTED, 'mark intent executed', without('market.intents')],
    [SKIPPED, 'mark intent skipped', without('market.intents')],
    ['link_messenger', 'burn commitment nonce', without('market.burned_nonces')],
    ...TWO_STEPS.map((tool) => [tool, OWNER, withoutNodes] as never),
  ])(
    'of %s, "%s", changes nothing, and the same call succeeds afterwards [ERR-04]',
    async (tool, text, broken) => {
      const signed = await signedArgs(mcp, tool, owner, await argumentsOf(tool))
      const before = await stored()
      const failed = await broken(() => mcp.call(tool, signed))
      expect(failed).toMatchObject({ isError: true, text: expect.stringContaining(text) })
      expect(await stored()).toEqual(before)
      await succeed(tool, signed)
    },
  )

  it('of submit_proof changes nothing, and the same call succeeds afterwards [ERR-04]', async () => {
    const { merchantId, productId } = v.product
    const args = {
      ...agent(),
      merchant_id: Number(merchantId),
      product_id: productId,
      proof_data: { seen: 'it' },
    }
    const before = await stored()
    const failed = await withoutNodes(() => mcp.call('submit_proof', args))
    expect(failed).toMatchObject({ isError: true, text: `agent ${v.buyer.agentId}: ${OWNER}` })
    expect(await stored()).toEqual(before)
    expect(await mcp.call('submit_proof', args)).toMatchObject({ isError: false })
  })
})
