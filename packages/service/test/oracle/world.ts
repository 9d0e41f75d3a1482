// Replicas of a market, ways to speed them up or disturb them, and people who buy together.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  type EscrowDeposit,
  escrowDeposits,
  type Product,
  settlePurchases,
  signPurchase,
} from '@referrer/contracts/local'
import { Attribution } from '@referrer/protocol'
import { dayOf } from '@referrer/ranking'
import { keccak256, type LocalAccount, numberToHex, stringToHex } from 'viem'
import { type Overrides, type Service, startService } from '../../src/app/service.ts'
import { catchUpReleases, settleEscrows } from '../../src/derived/oracle/schedule.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { skippedFor } from '../../src/market/escrows/skipped.ts'
import { call } from '../calls.ts'
import { must } from '../http/caller.ts'
import { send } from '../http/chain.ts'
import { setCashbackRate } from '../http/commitments.ts'
import type { TestMarket } from '../http/market.ts'
import { FULL_PRICE, type Person, quiet, type Review, write } from '../http/town.ts'

/** A replica with the same records, clock, nodes and keys. */
export const startReplica = (m: TestMarket, overrides: Overrides = {}): Promise<Service> =>
  startService(m.service.context.config, {
    clock: () => Date.now() + m.clock.aheadMs,
    fetch: m.service.context.fetch,
    ...overrides,
  })

/** Runs the oracle's schedules once. */
export async function look({ context }: Service): Promise<void> {
  const run = { signal: AbortSignal.timeout(60_000), sql: context.sql }
  await settleEscrows(context).run(run)
  await catchUpReleases(context).run(run)
}

/** A failed decision is made again after this time. */
export const RETRY_MS = 61_000

const PLEDGE_BPS = 4_000

/** A review whose link gives the buyer cashback. */
export async function writeWithCashback(
  m: TestMarket,
  author: Person,
  product: Product,
  rating = 5,
): Promise<Review> {
  await m.indexed()
  await must(setCashbackRate(m, author.owner, { agentId: author.agentId, bps: PLEDGE_BPS }))
  return write(m, author, product, rating)
}

interface Shopper {
  owner: LocalAccount
  /** Left out: the wallet buys for itself. */
  agentId?: bigint
}

let salt = 0

/** Buys all in one block, through one review, with cashback. */
export async function buyTogether(
  m: TestMarket,
  { product, reviewId, author }: Review,
  shoppers: readonly Shopper[],
  price = FULL_PRICE,
): Promise<EscrowDeposit[]> {
  const purchases = await signTogether(m, { product, reviewId, author }, shoppers, price)
  const deposits = escrowDeposits(await settlePurchases(m.market, purchases))
  await m.indexed()
  return deposits
}

export const signTogether = (
  { market }: Pick<TestMarket, 'market'>,
  { product, reviewId, author }: Pick<Review, 'product' | 'reviewId' | 'author'>,
  shoppers: readonly Shopper[],
  price = FULL_PRICE,
) =>
  Promise.all(
    shoppers.map(({ owner, agentId }) => {
      salt += 1
      return signPurchase(market, owner, {
        value: price,
        salt: numberToHex(0x5000_0000 + salt, { size: 32 }),
        attribution: {
          ...product,
          reviewId,
          reviewerAgentId: author.agentId,
          buyerAgentId: agentId ?? Attribution.AGENTLESS_BUYER_ID,
          cashbackOfCommissionBps: PLEDGE_BPS,
          commissionMultiplierBps: 10_000,
        },
      })
    }),
  )

export interface Decided {
  escrow_id: bigint
  kind: 'release' | 'settle'
  attempt: number
  contradicted: boolean
  cashback_earned: boolean
  state: 'enqueued' | 'sent' | 'confirmed' | 'failed'
  reason: string | null
}

/** All decisions of a kind with their transactions' states; of these escrows, or of all. */
export const decided = (
  { sql }: Pick<TestMarket, 'sql'>,
  kind: Decided['kind'],
  deposits?: readonly EscrowDeposit[],
) => sql<Decided[]>`
  SELECT d.escrow_id, kind, attempt, contradicted, cashback_earned, i.reason,
    CASE WHEN i.state = 'confirmed' AND ${skippedFor(sql)} IS NOT NULL THEN 'failed' ELSE i.state END AS state
  FROM market.escrow_decisions AS d JOIN sender.intents AS i ON i.id = d.transaction_id
  WHERE kind = ${kind}
    ${deposits ? sql`AND d.nonce = ANY(${deposits.map(({ nonce }) => Buffer.from(nonce.slice(2), 'hex'))}::bytea[])` : sql``}
  ORDER BY d.escrow_id, attempt`

/**
 * Mines one by one: a local chain that mines many at once creates them lazily, and after a reorganisation returns
 * inconsistent blocks.
 */
export async function mineBlocks({ market }: Pick<TestMarket, 'market'>, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await market.client.mine({ blocks: 1 })
}

/** Waits until no transaction is under way and all changes have been followed, as of today. */
export async function rest(m: TestMarket): Promise<void> {
  await until(async () => {
    const { count } = await m.sql`SELECT FROM sender.intents WHERE state IN ('enqueued', 'sent') LIMIT 1`
    return count === 0
  }, 'everything sent to be final')
  await quiet(m)
  await until(async () => {
    const today = dayOf(new Date(Date.now() + m.clock.aheadMs))
    const { count } = await m.sql`
      SELECT FROM market.review_ranks WHERE day < ${today} UNION ALL SELECT FROM market.product_totals WHERE day < ${today}`
    return count === 0
  }, 'the ranks of today')
}

const ORACLE_ROLE = keccak256(stringToHex('ORACLE_ROLE'))

/** Grants or revokes the oracle's role. */
export async function appoint(m: TestMarket, isOracle: boolean): Promise<void> {
  const { admin, oracle } = m.market.accounts
  const name = isOracle ? 'grantRole' : 'revokeRole'
  await send(m, call(m, admin, 'CommissionEscrow', name, [ORACLE_ROLE, oracle.address]))
}

export interface Gate {
  url: string
  /** Calls with one of these texts in their JSON are refused. */
  refuses: string[]
  /** Calls with one of these reach the node, but the answer is lost. */
  loses: string[]
  close(): Promise<void>
}

/** A proxy to a node, which the test can close. */
export async function openGate(target: string): Promise<Gate> {
  const gate: Pick<Gate, 'refuses' | 'loses'> = { refuses: [], loses: [] }
  const server = createServer(async (request, response) => {
    try {
      const body = await text(request)
      const isAmong = (pieces: string[]) => pieces.some((piece) => body.includes(piece))
      if (isAmong(gate.refuses)) return void request.socket.destroy()
      const headers = { 'content-type': 'application/json' }
      const answer = await (await fetch(target, { method: 'POST', headers, body })).text()
      if (isAmong(gate.loses)) return void request.socket.destroy()
      response.writeHead(200, headers).end(answer)
    } catch {
      request.socket.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(gate, {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  })
}
