// Whether everybody has what is theirs, and whether the facilitator's records say what the chain says.

import { commissionEscrowAbi, sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { type Address, type Hash, type Hex, zeroAddress } from 'viem'
import { expect } from 'vitest'
import { eventually } from '../eventually.ts'
import type { TestFacilitator } from '../harness.ts'

export interface Allowed {
  /** Transactions of relayers that reverted since the last audit. */
  reverted?: number
  /** What payers have put into the router and nobody asks to have split. */
  left?: { payer: Address; amount: bigint }[]
}

export interface Books {
  /** Who may have been paid as a reviewer. */
  reviewers: Set<Address>
  /** Throws unless all of it adds up. */
  audit(allowed?: Allowed): Promise<void>
}

interface Deposit {
  payer: Address
  nonce: Hex
  price: bigint
  commission: bigint
  fee: bigint
  heldBack: bigint
  cashback: bigint
  transaction: Hash
}

const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
const nameOf = (payer: string, nonce: string) => `${payer.toLowerCase()} ${nonce}`

/** Of a market with one merchant, where no escrow is settled yet. */
export async function openBooks(m: TestFacilitator): Promise<Books> {
  const { client } = m.chain
  const { SplitRouter, CommissionEscrow, USDC } = m.market.addresses
  let audited = await client.getBlockNumber()
  const reviewers = new Set<Address>([m.reviewer.account.address])

  async function deposits(): Promise<Deposit[]> {
    const events = await client.getContractEvents({
      address: CommissionEscrow,
      abi: commissionEscrowAbi,
      eventName: 'EscrowDeposited',
      fromBlock: 0n,
      strict: true,
    })
    return events.map(({ args, transactionHash: transaction }) => ({ ...args, transaction }))
  }

  async function mintedTo(): Promise<Map<Address, bigint>> {
    const minted = new Map<Address, bigint>()
    const events = await client.getContractEvents({
      address: USDC,
      abi: sandboxUSDCAbi,
      eventName: 'Transfer',
      args: { from: zeroAddress },
      fromBlock: 0n,
      strict: true,
    })
    for (const { args } of events) minted.set(args.to, (minted.get(args.to) ?? 0n) + args.value)
    return minted
  }

  const router = { address: SplitRouter, abi: splitRouterAbi } as const
  /** In the wallet, or to be claimed. */
  async function has(account: Address): Promise<bigint> {
    const claimable = await client.readContract({ ...router, functionName: 'claimable', args: [account] })
    return claimable + (await m.balanceOf(account))
  }

  async function auditMoney(all: Deposit[], left: NonNullable<Allowed['left']>): Promise<void> {
    const minted = await mintedTo()
    const gains: [Address, bigint][] = []
    for (const account of new Set([...minted.keys(), ...reviewers, m.merchant.account.address])) {
      const paid = all.filter(({ payer }) => payer === account).map(({ price }) => price)
      const given = left.filter(({ payer }) => payer === account).map(({ amount }) => amount)
      const gain = (await has(account)) - (minted.get(account) ?? 0n) + sum(paid) + sum(given)
      gains.push([account, gain])
    }
    const merchant = m.merchant.account.address
    const gainOf = (who: (account: Address) => boolean) =>
      sum(gains.filter(([account]) => who(account)).map(([, gain]) => gain))
    const others = gains.filter(([account]) => account !== merchant && !reviewers.has(account))
    expect(
      others.filter(([, gain]) => gain !== 0n),
      'who paid something else than their purchases',
    ).toEqual([])

    const immediate = all.map(
      ({ commission, fee, heldBack, cashback }) => commission - fee - heldBack - cashback,
    )
    const money = {
      merchant: gainOf((account) => account === merchant),
      reviewers: gainOf((account) => reviewers.has(account)),
      escrow: await m.balanceOf(CommissionEscrow),
      unsplit: await client.readContract({ ...router, functionName: 'unsplit' }),
      treasury: await m.balanceOf(m.market.accounts.treasury.address),
    }
    expect(money).toEqual({
      merchant: sum(all.map(({ price, commission }) => price - commission)),
      reviewers: sum(immediate),
      escrow: sum(all.map(({ fee, heldBack, cashback }) => fee + heldBack + cashback)),
      unsplit: sum(left.map(({ amount }) => amount)),
      treasury: 0n,
    })
  }

  async function auditRecords(all: Deposit[], left: NonNullable<Allowed['left']>): Promise<void> {
    const split = new Map(all.map((deposit) => [nameOf(deposit.payer, deposit.nonce), deposit.transaction]))
    expect(split.size, 'every payment is split once').toBe(all.length)
    const rows = await m.sql<{ payer: string; nonce: string; sent: boolean; until: bigint | null }[]>`
      SELECT '0x' || encode(payer, 'hex') AS payer, '0x' || encode(nonce, 'hex') AS nonce, was_sent AS sent, valid_before AS until
      FROM facilitator.settlements WHERE chain_id = ${m.chainId}`
    const recorded = new Set(rows.map(({ payer, nonce }) => nameOf(payer, nonce)))
    const unrecorded = all.filter(({ payer, nonce }) => !recorded.has(nameOf(payer, nonce)))
    expect(unrecorded, 'what was split without a record').toEqual([])
    const { timestamp } = await client.getBlock()
    for (const { payer, nonce, sent, until } of rows) {
      const { body } = await m.call('GET', `/settlements/${payer}/${nonce}?chain_id=${m.chainId}`)
      const isRefunded = await client.readContract({
        ...router,
        functionName: 'refunded',
        args: [payer as Address, nonce as Hex],
      })
      const transaction = split.get(nameOf(payer, nonce))
      const isWaiting = left.some((each) => each.payer.toLowerCase() === payer)
      const isOver = await client.readContract({
        address: USDC,
        abi: sandboxUSDCAbi,
        functionName: 'authorizationState',
        args: [payer as Address, nonce as Hex],
      })
      const hasEnded = isOver || until === null || until <= timestamp
      const ended = sent || isRefunded ? (hasEnded ? 'failed' : 'pending') : 'unknown'
      const status = transaction ? 'settled' : isWaiting && !isRefunded ? 'pending' : ended
      expect(body, `${payer} ${nonce}`).toMatchObject({ status, ...(transaction && { transaction }) })
    }
  }

  async function revertedSince(block: bigint): Promise<Hash[]> {
    const relayers = new Set(m.relayers.map(({ address }) => address.toLowerCase()))
    const reverted: Hash[] = []
    const head = await client.getBlockNumber()
    for (let number = block + 1n; number <= head; number += 1n) {
      const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true })
      for (const { from, hash } of transactions) {
        if (!relayers.has(from.toLowerCase())) continue
        const { status } = await client.getTransactionReceipt({ hash })
        if (status === 'reverted') reverted.push(hash)
      }
    }
    audited = head
    return reverted
  }

  return {
    reviewers,
    async audit({ reverted = 0, left = [] } = {}) {
      await eventually(async () => {
        const [row] = await m.sql<{ open: number }[]>`
          SELECT count(*)::int AS open FROM facilitator.settlements WHERE state = 'pending'`
        return row?.open
      }).toBe(0)
      const all = await deposits()
      await auditMoney(all, left)
      await auditRecords(all, left)
      expect(await revertedSince(audited), 'relayers paid for nothing').toHaveLength(reverted)
    },
  }
}
