// Writes a purchase down if there is room for it, and so takes its place: in the day of this signer, and in what the owners' caps leave.
import { type Address, isAddressEqual } from 'viem'
import type { Chain } from '../chain/chain.ts'
import type { Context } from '../context.ts'
import { Refused } from '../refused.ts'
import { type Budget, OverCap } from './caps.ts'
import { type Entry, type Journal, listAllOpen, listDay, listDays } from './journal.ts'
import { withLock } from './lock.ts'
import { lookAtMoney } from './money.ts'

interface Reserving {
  journal: Journal
  budgets: Budget[]
  /** Runs when there is room, before it is taken. */
  beforeTaking(): Promise<void>
}

/** One after another, whatever wallets and processes share the journal: two that look at once would both find room. */
export function reserve(
  context: Context,
  chain: Chain,
  entry: Entry,
  { journal, budgets, beforeTaking }: Reserving,
): Promise<void> {
  const { SIGNER_STATE_DIR: stateDir } = context.config
  return withLock(stateDir, 'spending', context.timeouts.lock, async (requireHeld) => {
    await requireRoomToday(context, chain, entry)
    for (const budget of budgets) await requireRoomInBudget(stateDir, chain, entry, budget)
    await requireHeld()
    await beforeTaking()
    await journal.record(entry).catch((error: NodeJS.ErrnoException) => {
      throw new Refused(
        `the journal cannot be written (${error.code}): make room in SIGNER_STATE_DIR; nothing was paid`,
      )
    })
  })
}

/** What all wallets of this signer have signed since a UTC day began, and may have paid. */
export async function signedSince(stateDir: string, day: string): Promise<Entry[]> {
  const days = (await listDays(stateDir)).filter((each) => each >= day)
  const entries = (await Promise.all(days.map((each) => listDay(stateDir, each)))).flat()
  return entries.filter(({ outcome }) => outcome === null || outcome.state === 'settled')
}

async function requireRoomToday(
  { config: { MAX_PER_DAY: most, SIGNER_STATE_DIR: stateDir } }: Context,
  chain: Chain,
  { amount, signedAt }: Entry,
): Promise<void> {
  if (most === undefined) return
  const signed = await signedSince(stateDir, signedAt.slice(0, 10))
  const room = await roomIn(most, amount, signed, (entry) => isVoid(chain, entry))
  if (room >= BigInt(amount)) return
  throw new Refused(
    `the price ${amount} exceeds the ${room} USDC base units that are left today of the ${most} that this signer pays in a UTC day: wait until midnight UTC, or let its operator raise MAX_PER_DAY; nothing was paid`,
  )
}

/** The marketplace counts up to a block: what was settled later, or may have been, is counted here. */
async function requireRoomInBudget(
  stateDir: string,
  chain: Chain,
  { amount }: Entry,
  { owner, remaining, asOfBlock }: Budget,
): Promise<void> {
  if (remaining === null) return
  const uncounted = [
    ...(await listAllOpen(stateDir)),
    ...(await listSettledAfter(stateDir, chain, asOfBlock)),
  ]
  const ofOwner = uncounted.filter((entry) => entry.chainId === chain.chainId && isOf(owner, entry))
  const room = await roomIn(remaining, amount, ofOwner, (entry) => isCounted(chain, entry, asOfBlock))
  if (room >= BigInt(amount)) return
  throw new OverCap(
    `the price ${amount} exceeds the owner's remaining budget of ${room} USDC base units for the purchases of ${owner}: the owner can raise the cap at the marketplace; nothing was paid`,
  )
}

const isOf = (owner: Address, { payer, agentOwner }: Entry) =>
  isAddressEqual(payer, owner) || (agentOwner !== null && isAddressEqual(agentOwner, owner))

/** What entries leave of a limit. The chain is asked about undecided ones only where they leave too little. */
async function roomIn(
  limit: bigint,
  amount: string,
  entries: Entry[],
  isFree: (entry: Entry) => Promise<boolean>,
): Promise<bigint> {
  const left = (counted: Entry[]) => {
    const room = counted.reduce((rest, entry) => rest - BigInt(entry.amount), limit)
    return room > 0n ? room : 0n
  }
  const room = left(entries)
  if (room >= BigInt(amount)) return room
  const frees = await Promise.all(entries.map(async (entry) => entry.outcome === null && isFree(entry)))
  return left(entries.filter((_, index) => !frees[index]))
}

/** Nothing was paid with it, and nothing can be. */
async function isVoid(chain: Chain, entry: Entry): Promise<boolean> {
  if (entry.chainId !== chain.chainId) return false
  const { state } = await lookAtMoney(chain, entry)
  return state === 'never' || state === 'refunded'
}

/** It costs nothing, or the marketplace has seen it too. */
async function isCounted(chain: Chain, entry: Entry, asOfBlock: number): Promise<boolean> {
  if (await isVoid(chain, entry)) return true
  // A node may have forgotten that block: then it is counted twice rather than not at all.
  const then = await lookAtMoney(chain, entry, asOfBlock).catch(() => undefined)
  return then?.state === 'settled'
}

/** Newest first, up to a day on which there is none: blocks and days run alike. */
async function listSettledAfter(stateDir: string, { chainId }: Chain, block: number): Promise<Entry[]> {
  const found: Entry[] = []
  for (const day of await listDays(stateDir)) {
    const settled = (await listDay(stateDir, day)).filter(
      (entry) => entry.chainId === chainId && entry.outcome?.state === 'settled',
    )
    const after = settled.filter(({ outcome }) => outcome?.state === 'settled' && outcome.block > block)
    found.push(...after)
    if (settled.length > 0 && after.length === 0) break
  }
  return found
}
