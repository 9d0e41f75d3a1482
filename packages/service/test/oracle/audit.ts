// Checks that all parties have their money, that the oracle's records agree with the chain, and that ranks equal
// recomputed ones.
import type { Sql } from '@referrer/database'
import { commissionEscrowAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { type Address, type Hex, zeroAddress } from 'viem'
import { expect } from 'vitest'
import { recomputeRanks } from '../../src/app/commands/recompute-ranks.ts'
import type { Chain } from '../../src/kit/context.ts'
import { holdsMoney } from '../../src/market/escrows/holding.ts'
import { skippedFor } from '../../src/market/escrows/skipped.ts'
import { usdcOf } from '../http/chain.ts'
import type { TestMarket } from '../http/market.ts'
import { type ChainEvent, fold, readEvents } from '../replay.ts'
import { differences, mirrorDifferences, rowsOf } from '../tables.ts'
import type { Escrow } from '../world.ts'

type Audited = Pick<TestMarket, 'sql' | 'market' | 'chainId'>

export interface Allowed {
  /** How often a transaction of the oracle reverted, or its batch skipped an escrow. */
  reverted?: number | 'any'
  /** Escrows that hold money, whose window has ended and that are not settled. */
  unsettled?: number
}

type Of<Name extends ChainEvent['eventName']> = Extract<ChainEvent, { eventName: Name }>

const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** Throws unless everything adds up. No transaction may be under way. */
export async function audit(m: Audited, { reverted = 0, unsettled = 0 }: Allowed = {}): Promise<void> {
  const head = await m.market.client.getBlock()
  const events = await readEvents(m.market, 0n, head.number)
  const world = fold(m.chainId, events)
  expect(await mirrorDifferences(m.sql, m.chainId, world), 'the records against the chain').toEqual([])

  const due = world.escrows.filter(
    (escrow) => escrow.window_end <= head.timestamp && !escrow.settled_at && holdsMoney(escrow),
  )
  expect(due.length, 'due and not settled').toBe(unsettled)
  auditEvents(events, world.escrows)
  await auditDecisions(m, events, world.escrows)
  const inVain = [...(await revertedOf(m)), ...named(events, 'EscrowSkipped')]
  if (reverted !== 'any') expect(inVain, 'what the oracle sent in vain').toHaveLength(reverted)
  await auditMoney(m, events)
  await auditRanks(m.sql, m.chainId)
}

const named = <Name extends ChainEvent['eventName']>(events: ChainEvent[], name: Name) =>
  events.filter((event): event is Of<Name> => event.eventName === name)

/** Every escrow is released and settled at most once, and every unit of it is paid exactly once. */
function auditEvents(events: ChainEvent[], escrows: Escrow[]): void {
  for (const escrow of escrows) {
    const isIts = ({ args }: { args: { escrowId: bigint } }) => args.escrowId === escrow.escrow_id
    const released = named(events, 'CashbackReleased').filter(isIts)
    const settled = named(events, 'EscrowSettled').filter(isIts)
    expect(released.length, `releases of escrow ${escrow.escrow_id}`).toBeLessThanOrEqual(1)
    expect(settled.length, `settlements of escrow ${escrow.escrow_id}`).toBeLessThanOrEqual(1)
    for (const { args } of released) expect(args.amount).toBe(escrow.cashback)
    for (const { args } of settled) {
      expect(args.heldBackToReviewer + args.heldBackToTreasury).toBe(escrow.held_back)
      const left = released.length === 0 ? escrow.cashback : 0n
      expect(args.cashbackToBuyer + args.cashbackToReviewer).toBe(left)
    }
  }
}

interface Decided {
  payer: Hex
  nonce: Hex
  kind: 'release' | 'settle'
  attempt: number
  contradicted: boolean
  cashback_earned: boolean
  inputs: {
    comparison_outcome?: string | null
    upheld?: boolean | null
    buyer_agent_id: number | null
    buyer_review_internal_id: number | null
    votes_missing: boolean
    cashback_pledged: boolean
  }
  transaction_id: bigint
  is_open: boolean
  state: string
  hash: Hex | null
}

/** Every decision agrees with the chain, by the transaction that was sent for it, and with its own inputs. */
async function auditDecisions({ sql, chainId }: Audited, events: ChainEvent[], escrows: Escrow[]) {
  const decisions = await sql<Decided[]>`
    SELECT '0x' || encode(d.payer, 'hex') AS payer, '0x' || encode(d.nonce, 'hex') AS nonce, kind, attempt, contradicted, cashback_earned,
      inputs, transaction_id, is_open, 
      CASE WHEN i.state = 'confirmed' AND ${skippedFor(sql)} IS NOT NULL THEN 'failed' ELSE i.state END AS state, '0x' || encode(i.mined_hash, 'hex') AS hash
    FROM market.escrow_decisions AS d LEFT JOIN sender.intents AS i ON i.id = d.transaction_id
    WHERE d.chain_id = ${chainId} ORDER BY d.payer, d.nonce, kind, attempt`
  const intents = await sql<
    { id: bigint }[]
  >`SELECT id FROM sender.intents WHERE key LIKE 'oracle/%' ORDER BY id`
  expect(
    [...new Set(decisions.map(({ transaction_id }) => transaction_id))].sort(),
    'a transaction for each decision, and none for nothing',
  ).toEqual(intents.map(({ id }) => id).sort())
  for (const { kind, inputs, contradicted, cashback_earned } of decisions) {
    const { comparison_outcome: outcome, buyer_agent_id, buyer_review_internal_id } = inputs
    const stands = outcome === 'contradicted' || (outcome === 'resolved' && inputs.upheld === true)
    const isReviewed = buyer_agent_id !== null && buyer_review_internal_id !== null && !inputs.votes_missing
    const earned = isReviewed && inputs.cashback_pledged
    expect({ contradicted, cashback_earned }).toEqual({
      contradicted: kind === 'settle' && stands,
      cashback_earned: earned,
    })
  }

  const shown = [...named(events, 'CashbackReleased'), ...named(events, 'EscrowSettled')].filter(
    (event) => event.eventName === 'CashbackReleased' || !event.args.fallbackUsed,
  )
  const done = decisions.filter(({ state }) => state === 'confirmed')
  const spell = (kind: string, escrow: { payer: Hex; nonce: Hex } | undefined, hash: Hex | null) =>
    `${kind} ${escrow?.payer.toLowerCase()} ${escrow?.nonce} in ${hash}`
  expect(done.map((decision) => spell(decision.kind, decision, decision.hash)).sort()).toEqual(
    shown
      .map(({ eventName, args, transactionHash }) => {
        const escrow = escrows.find(({ escrow_id }) => escrow_id === args.escrowId)
        return spell(eventName === 'CashbackReleased' ? 'release' : 'settle', escrow, transactionHash)
      })
      .sort(),
  )
  for (const { transactionHash, args } of named(events, 'EscrowSettled')) {
    const escrow = escrows.find(({ escrow_id }) => escrow_id === args.escrowId)
    const decision = done.find(
      ({ hash, payer, nonce, kind }) =>
        hash === transactionHash && kind === 'settle' && payer === escrow?.payer && nonce === escrow.nonce,
    )
    if (!decision) continue
    expect(args.heldBackToReviewer > 0n, 'the reviewer is paid unless contradicted').toBe(
      !decision.contradicted,
    )
    expect(decision.cashback_earned ? args.cashbackToReviewer : args.cashbackToBuyer).toBe(0n)
  }

  for (const own of Map.groupBy(
    decisions,
    ({ payer, nonce, kind }) => `${kind} ${payer} ${nonce}`,
  ).values()) {
    expect(own.map(({ attempt }) => attempt)).toEqual(own.map((_, at) => at + 1))
    expect(
      own.slice(0, -1).filter(({ state }) => state !== 'failed'),
      'a further attempt needs a failure',
    ).toEqual([])
  }
}

/** Transactions signed for the oracle that are on the chain and reverted. */
export async function revertedOf({ sql, market }: Audited): Promise<Hex[]> {
  const rows = await sql<{ hash: Hex }[]>`SELECT '0x' || encode(hash, 'hex') AS hash FROM sender.transactions`
  const receipts = await Promise.all(
    rows.map(({ hash }) => market.client.getTransactionReceipt({ hash }).catch(() => undefined)),
  )
  return receipts.flatMap((receipt) => (receipt?.status === 'reverted' ? [receipt.transactionHash] : []))
}

/** The balance of each party is its initial balance plus what the escrows paid it. */
async function auditMoney({ market }: Audited, events: ChainEvent[]): Promise<void> {
  const { client, addresses, accounts } = market
  const transfers = await client.getContractEvents({
    address: addresses.USDC,
    abi: sandboxUSDCAbi,
    eventName: 'Transfer',
    fromBlock: 0n,
    strict: true,
  })
  const minted = (to: Address) =>
    sum(
      transfers
        .filter(({ args }) => args.from === zeroAddress && same(args.to, to))
        .map(({ args }) => args.value),
    )
  const gain = async (account: Address) => (await usdcOf({ market }, account)) - minted(account)

  const deposits = named(events, 'EscrowDeposited').map(({ args }) => args)
  const releases = named(events, 'CashbackReleased').map(({ args }) => args)
  const settlements = named(events, 'EscrowSettled').map(({ args }) => args)
  const payerOf = (id: bigint) => deposits.find(({ escrowId }) => escrowId === id)?.payer
  for (const payer of new Set(deposits.map((deposit) => deposit.payer))) {
    const paid = deposits.filter((deposit) => deposit.payer === payer).map(({ price }) => price)
    const back = [
      ...releases.filter((release) => release.payer === payer).map(({ amount }) => amount),
      ...settlements
        .filter(({ escrowId }) => payerOf(escrowId) === payer)
        .map(({ cashbackToBuyer }) => cashbackToBuyer),
    ]
    expect(await gain(payer), `what ${payer} has`).toBe(sum(back) - sum(paid))
  }
  const known = new Set(
    [...deposits.map(({ payer }) => payer), accounts.merchant.address, accounts.treasury.address].map(
      (address) => address.toLowerCase(),
    ),
  )
  const contracts = new Set(Object.values(addresses).map((address) => address.toLowerCase()))
  const others = new Set(
    transfers
      .map(({ args }) => args.to.toLowerCase() as Address)
      .filter((to) => !known.has(to) && !contracts.has(to)),
  )
  const open = sum(deposits.map(({ heldBack, cashback, fee }) => heldBack + cashback + fee))
  const gone = [
    ...releases.map(({ amount }) => amount),
    ...settlements.map((paid) => paid.heldBackToReviewer + paid.heldBackToTreasury),
    ...settlements.map((paid) => paid.cashbackToBuyer + paid.cashbackToReviewer),
  ]
  expect({
    merchant: await gain(accounts.merchant.address),
    treasury: await gain(accounts.treasury.address),
    reviewers: sum(await Promise.all([...others].map(gain))),
    escrow: await usdcOf({ market }, addresses.CommissionEscrow),
    owed: await client.readContract({
      address: addresses.CommissionEscrow,
      abi: commissionEscrowAbi,
      functionName: 'owed',
    }),
  }).toEqual({
    merchant: sum(deposits.map(({ price, commission }) => price - commission)),
    treasury: sum(settlements.map(({ heldBackToTreasury }) => heldBackToTreasury)),
    reviewers:
      sum(deposits.map(({ commission, fee, heldBack, cashback }) => commission - fee - heldBack - cashback)) +
      sum(settlements.map((paid) => paid.heldBackToReviewer + paid.cashbackToReviewer)),
    escrow: open - sum(gone),
    owed: open - sum(gone),
  })
}

/** The service's own default. */
const FULL = 10_000n

const DERIVED = [
  'market.rank_evidence',
  'market.rank_totals',
  'market.review_ranks',
  'market.counted_purchases',
  'market.counted_votes',
  'market.spent_at_shops',
  'market.opinions',
  'market.product_totals',
  'market.merchant_totals',
  'market.opinion_totals',
  'market.products',
  'market.merchants',
]

/** Compares the stored ranks with recomputed ones. */
async function auditRanks(sql: Sql, chainId: number): Promise<void> {
  const { count } = await sql`SELECT FROM market.pending_changes WHERE chain_id = ${chainId} LIMIT 1`
  expect(count, 'changes that nobody has looked at').toBe(0)
  const read = async () =>
    new Map(
      await Promise.all(DERIVED.map(async (table) => [table, await rowsOf(sql, table, chainId)] as const)),
    )
  const kept = await read()
  const [day] = await sql<
    { day: number }[]
  >`SELECT day FROM market.opinion_totals WHERE chain_id = ${chainId}`
  const now = new Date((day?.day ?? 0) * 86_400_000 + 1)
  await recomputeRanks(sql, { config: { chainId } } as Chain, { now, fullCommission: FULL }, () => {})
  const anew = await read()
  expect(
    DERIVED.flatMap((table) => differences(table, anew.get(table) ?? [], kept.get(table) ?? [])),
    'ranks as they were kept, against ranks computed anew',
  ).toEqual([])
}
