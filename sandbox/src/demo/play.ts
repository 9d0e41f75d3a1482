// Plays a plan through the doors that everybody uses: contracts, REST with signatures, x402 at the shops.
import { setTimeout as sleep } from 'node:timers/promises'
import { developmentAccount, mintUsdc, registerIdentity } from '@referrer/contracts/local'
import { connect } from '@referrer/database'
import { callerOf } from '../caller.ts'
import type { Ends } from '../ends.ts'
import type { Sandbox } from '../sandbox.ts'
import { startShop } from '../shop/shop.ts'
import { buyAll } from './buying.ts'
import { type Ids, REVIEWERS, shopOwners, WALLETS } from './cast.ts'
import { agentOf, type Game } from './game.ts'
import { introduceShops, openShops } from './opening.ts'
import type { Plan } from './plan.ts'
import { isFollowed } from './restore.ts'
import { judgeAll, leaveProofs, publishProven } from './reviewing.ts'

/** What each of them has to spend in the demo, in base units. */
const FUNDS = 100_000_000n

/** The moment and the newest block at the beginning of a day; the last is the end. */
export interface DayMark {
  at: number
  block: bigint
}

export interface Played extends Ids {
  days: DayMark[]
}

export async function play(
  sandbox: Sandbox,
  plan: Plan,
  { shopPort, ends, say }: { shopPort: number; ends: Ends; say: (text: string) => void },
): Promise<Played> {
  const { market, world, databaseUrl, state } = sandbox
  const { baseUrl, facilitatorUrl, accounts, chainId } = state
  const caller = callerOf(baseUrl, chainId)
  const adminToken = await caller.signIn(market.accounts.admin)
  const firstAgent = accounts.find(({ role }) => role === 'reviewer')?.agentId ?? 0
  const firstMerchant = accounts.find(({ role }) => role === 'merchant')?.merchantId ?? 0
  const sql = await ends.add(
    async () => connect(databaseUrl, { max: 2, name: 'demo' }),
    (connection) => connection.end(),
  )
  const game: Game = {
    ...{ sandbox, market, caller, sql, plan, adminToken },
    agentIds: [firstAgent],
    merchantIds: [firstMerchant],
    published: new Map(),
    deposits: new Map(),
  }
  const days: DayMark[] = []
  const mark = async () => days.push({ at: Date.now(), block: await market.client.getBlockNumber() })
  await mark()
  await join(game, 0)
  await openShops(game)
  await ends.add(
    () => startShop(world, { port: shopPort, baseUrl, facilitatorUrl, owners: shopOwners(game) }),
    (shop) => shop.stop(),
  )
  await introduceShops(game)
  for (let day = 0; day < plan.days; day++) {
    if (day > 0) {
      await mark()
      await join(game, day)
    }
    await publishProven(game, day)
    await buyAll(game, day)
    await judgeAll(game, day)
    await flagAll(game, day)
    await leaveProofs(game, day)
    await caughtUp(game)
    if (day % 20 === 19) say(`day ${day + 1} of ${plan.days}`)
  }
  await mark()
  return { agentIds: game.agentIds, merchantIds: game.merchantIds, days }
}

/** Those who come on that day get an identity, register, and say what they give of their commission. */
async function join(game: Game, day: number): Promise<void> {
  const { market, caller, plan, agentIds } = game
  for (const [at, { joins, cashbackBps, index }] of REVIEWERS.slice(0, plan.reviewers).entries()) {
    if (joins !== day) continue
    const account = developmentAccount(index)
    agentIds[at] ??= Number(await registerIdentity(market, account))
    await mintUsdc(market, account.address, FUNDS)
    await caller.post(account, '/v1/agent/register', { agent_id: agentIds[at] })
    if (cashbackBps > 0)
      await caller.inTwoSteps(account, '/v1/cashback-rate', {
        reviewer_agent_id: agentIds[at],
        cashback_of_commission_bps: cashbackBps,
      })
  }
  if (day === 0) for (const index of WALLETS) await mintUsdc(market, developmentAccount(index).address, FUNDS)
}

async function flagAll(game: Game, day: number): Promise<void> {
  for (const { reviewer } of game.plan.flags.filter((one) => one.day === day))
    await game.caller.postWith(game.adminToken, `/admin/agents/${agentOf(game, reviewer)}/flag`)
}

/** All blocks are indexed, and all that derives from them is up to date. */
async function caughtUp({ market, sql }: Game): Promise<void> {
  const { client } = market
  const head = await client.getBlockNumber()
  for (;;) {
    const [row] = await sql<{ block_number: bigint }[]>`
      SELECT block_number FROM indexer.checkpoints WHERE chain_id = ${client.chain.id}`
    if (row && row.block_number >= head && (await isFollowed(sql))) return
    await sleep(25)
  }
}
