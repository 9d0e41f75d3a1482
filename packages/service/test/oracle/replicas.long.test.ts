import { setTimeout as sleep } from 'node:timers/promises'
import { type EscrowDeposit, escrowTerms } from '@referrer/contracts/local'
import { keccak256 } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Service } from '../../src/app/service.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { call } from '../calls.ts'
import type { Call } from '../forking-chain.ts'
import { must } from '../http/caller.ts'
import { DAY, send, travel } from '../http/chain.ts'
import { vote } from '../http/commitments.ts'
import { standingOf } from '../http/escrows.ts'
import { NO_WORK, startTestMarket, type TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import { newcomer, newProduct, type Person, quiet, type Review, readRank, tell } from '../http/town.ts'
import { audit } from './audit.ts'
import {
  appoint,
  buyTogether,
  decided,
  look,
  RETRY_MS,
  rest,
  startReplica,
  writeWithCashback,
} from './world.ts'

/** Longer time-outs, because a busy machine is slow. */
vi.setConfig({ testTimeout: 180_000 })

/** Serves, indexes and sends; following and deciding is left to the replicas. */
let m: TestMarket
let replicas: Service[] = []
let link: Review
let other: Review
let buyers: Person[]

beforeAll(async () => {
  m = await startTestMarket({ overrides: NO_WORK })
  const product = await newProduct({ m, merchantId: await openRecorded(m) })
  link = await writeWithCashback(m, await newcomer(m), product)
  other = await writeWithCashback(m, await newcomer(m), product)
  buyers = [await newcomer(m), await newcomer(m), await newcomer(m)]
})
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()))
  await m?.close()
})

const outcomeOf = async ({ reviewId }: Review) =>
  (await must(m.call('GET', `/v1/review/${reviewId}`))).comparison_outcome
const lookAll = async () => {
  await m.indexed()
  await Promise.all([...replicas, ...replicas, ...replicas].map(look))
}

/** Votes and publishes a review: all that a buyer has to do for the cashback. */
async function earn(buyer: Person, deposit: EscrowDeposit, rating: number): Promise<void> {
  const { escrowId } = deposit
  await must(vote(m, buyer.owner, { agentId: buyer.agentId, escrowId, votes: [other.internalId] }))
  await tell(m, buyer, deposit, rating)
}

/** Waits until all are settled; decisions that failed on a slow machine are made again. */
async function untilSettled(deposits: readonly EscrowDeposit[]): Promise<void> {
  const ids = deposits.map(({ escrowId }) => escrowId)
  await until(
    async () => {
      const { count } = await m.sql`
      SELECT FROM chain.escrows WHERE escrow_id = ANY(${ids}::bigint[]) AND settled_at IS NOT NULL`
      if (count === ids.length) return true
      if ((await decided(m, 'settle', deposits)).some(({ state }) => state === 'failed')) {
        m.clock.aheadMs += RETRY_MS
        await lookAll()
      }
      await sleep(100)
      return false
    },
    'the settlements',
    120_000,
  )
}

const untilState = (kind: 'release' | 'settle', deposits: readonly EscrowDeposit[], state: string) =>
  until(async () => {
    const all = await decided(m, kind, deposits)
    return all.length > 0 && all.every((decision) => decision.state === state)
  }, `every ${kind} ${state}`)

describe('two replicas with one oracle', () => {
  let reviewed: EscrowDeposit[]

  it('make up, once, for what happened while nobody followed, and try again what the contract did not allow', async () => {
    await appoint(m, false)
    reviewed = await buyTogether(m, link, buyers)
    for (const [at, buyer] of buyers.entries()) {
      const deposit = reviewed[at]
      if (deposit) await earn(buyer, deposit, 1)
    }
    expect(await outcomeOf(link)).toBe('pending')
    expect(await decided(m, 'release')).toEqual([])

    replicas = await Promise.all([startReplica(m), startReplica(m)])
    await quiet(m)
    expect([await outcomeOf(link), await outcomeOf(other)]).toEqual(['contradicted', 'contradicted'])
    const { repeat } = await readRank(m, other.author)
    expect(repeat).toMatchObject({ cold_start: false })
    expect(await decided(m, 'release')).toMatchObject([{ attempt: 1 }, { attempt: 1 }, { attempt: 1 }])

    await untilState('release', reviewed, 'failed')
    // Sets the clock back, so that the retry delay has not passed on any machine.
    m.clock.aheadMs -= RETRY_MS
    await lookAll()
    expect(await decided(m, 'release')).toHaveLength(3)
    await appoint(m, true)
    m.clock.aheadMs += 2 * RETRY_MS
    await lookAll()
    await until(
      async () =>
        (await Promise.all(reviewed.map((one) => standingOf(m, one)))).every((one) => one.isReleased),
      'the releases',
    )
    await rest(m)
    expect((await decided(m, 'release')).map(({ attempt, state }) => [attempt, state])).toEqual(
      reviewed.flatMap(() => [
        [1, 'failed'],
        [2, 'confirmed'],
      ]),
    )
    await audit(m)
  })

  it('settle forty escrows that are due at once, each once, after the contract was paused for a while [CHAIN-19]', async () => {
    const { guardian } = m.market.accounts
    const shoppers = Array.from({ length: 37 }, (_, at) => buyers[at % 3] as Person)
    const deposits = [...reviewed, ...(await buyTogether(m, link, shoppers))]
    await travel(m, 60 * DAY + 60)
    await send(m, call(m, guardian, 'CommissionEscrow', 'pause', []))
    await lookAll()
    expect(await decided(m, 'settle')).toHaveLength(40)
    await until(
      async () =>
        (await decided(m, 'settle')).some(({ reason }) => reason === 'reverted with EnforcedPause()'),
      'a refusal',
    )
    await send(m, call(m, guardian, 'CommissionEscrow', 'unpause', []))
    await lookAll()
    await untilSettled(deposits)
    await rest(m)
    await lookAll()
    const settlements = (await decided(m, 'settle')).filter(({ state }) => state !== 'failed')
    expect(settlements).toMatchObject(
      deposits.map(({ escrowId }) => ({
        escrow_id: escrowId,
        state: 'confirmed',
        contradicted: true,
        cashback_earned: reviewed.some((deposit) => deposit.escrowId === escrowId),
      })),
    )
    await audit(m)
  })

  it('lose a race to whoever settles on day 70 or binds the purchase, decide the latter anew by its new terms, and settle the rest of the batch [CHAIN-21, CHAIN-24, CHAIN-25]', async () => {
    const { client, accounts } = m.market
    const [, , binder] = buyers as [Person, Person, Person]
    const [first, second] = buyers as [Person, Person]
    const bought = await buyTogether(m, link, [first, { owner: binder.owner }, second])
    const [abandoned, unbound, undisturbed] = bought as [EscrowDeposit, EscrowDeposit, EscrowDeposit]
    const deposits = [abandoned, unbound]
    // Before they are due: the replicas also look by themselves.
    await client.setAutomine(false)
    await travel(m, 70 * DAY + 60)
    await lookAll()
    await until(async () => {
      const { transactions } = await client.getBlock({ blockTag: 'pending' })
      return transactions.length === 1
    }, 'the batch of all three settlements in the pool')
    const fallback = [escrowTerms(abandoned)]
    const rivals = [
      call(m, accounts.stranger, 'CommissionEscrow', 'settleFallback', fallback),
      call(m, binder.owner, 'CommissionEscrow', 'bind', [escrowTerms(unbound), binder.agentId]),
    ]
    const hashes = await Promise.all(rivals.map(overtake))
    await client.mine({ blocks: 1 })
    await client.setAutomine(true)
    for (const hash of hashes)
      expect(await client.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
    await untilState('settle', deposits, 'failed')
    await untilState('settle', [undisturbed], 'confirmed')
    const shown = await Promise.all(
      bought.map(async ({ escrowId }) => {
        const { decisions } = await must(m.call('GET', `/v1/escrow/${escrowId}/decisions`))
        return decisions.map(({ transaction }: { transaction: unknown }) => transaction)
      }),
    )
    const { hash } = shown[2][0]
    expect(shown).toEqual([
      [
        {
          state: 'failed',
          hash,
          reason: `mined, but reverted with AlreadySettled(escrowId ${abandoned.escrowId})`,
        },
      ],
      [
        {
          state: 'failed',
          hash,
          reason: `mined, but reverted with TermsMismatch(escrowId ${unbound.escrowId})`,
        },
      ],
      [{ state: 'confirmed', hash, reason: null }],
    ])

    await m.indexed()
    const bound = { ...unbound, buyerAgentId: binder.agentId }
    await earn(binder, bound, 5)
    m.clock.aheadMs += RETRY_MS
    await lookAll()
    await untilSettled(deposits)
    await rest(m)
    await lookAll()
    expect(await decided(m, 'settle', deposits)).toMatchObject([
      { escrow_id: abandoned.escrowId, attempt: 1, state: 'failed', cashback_earned: false },
      { escrow_id: unbound.escrowId, attempt: 1, state: 'failed', cashback_earned: false },
      { escrow_id: unbound.escrowId, attempt: 2, state: 'confirmed', cashback_earned: true },
    ])
    const rows = await m.sql`
      SELECT fallback_used, buyer_agent_id, held_back_to_treasury, cashback_to_reviewer
      FROM chain.escrows WHERE escrow_id IN (${abandoned.escrowId}, ${unbound.escrowId}) ORDER BY escrow_id`
    expect(rows).toMatchObject([
      {
        fallback_used: true,
        held_back_to_treasury: abandoned.heldBack,
        cashback_to_reviewer: abandoned.cashback,
      },
      { fallback_used: false, buyer_agent_id: binder.agentId },
    ])
    await audit(m, { reverted: 2 })
  })

  /** Sends with a tip that puts it before everything else in the mempool. */
  async function overtake({ account, to, data }: Call): Promise<`0x${string}`> {
    const { client } = m.market
    const from = account.address
    const nonce = await client.getTransactionCount({ address: from })
    const fees = { gas: 500_000n, maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n }
    const transaction = { type: 'eip1559', chainId: m.chainId, nonce, to, data, ...fees } as const
    const serializedTransaction = await account.signTransaction(transaction)
    await client.sendRawTransaction({ serializedTransaction })
    return keccak256(serializedTransaction)
  }
})
