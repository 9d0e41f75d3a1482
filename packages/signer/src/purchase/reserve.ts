// Stores a purchase in the journal if its price fits within the daily limit of this signer and the remaining caps of the owners.
import { type Address, isAddressEqual } from 'viem'
import type { Chain } from '../chain/chain.ts'
import type { Context } from '../context.ts'
import { NotBought, Refused } from '../refused.ts'
import { type Budget, OverCap } from './caps.ts'
import { type Entry, type Journal, listAllOpen, listDay, listDays } from './journal.ts'
import { withLock } from './lock.ts'
import { readPaymentState } from './payment-state.ts'

interface Reserving {
  journal: Journal
  budgets: Budget[]
  /** Runs after the limits were checked, before the entry is stored. */
  beforeTaking(): Promise<void>
}

/** Serialised across all wallets and processes that share the journal: two concurrent checks could both pass and exceed a limit together. */
export function reserve(
  context: Context,
  chain: Chain,
  entry: Entry,
  { journal, budgets, beforeTaking }: Reserving,
): Promise<void> {
  const { SIGNER_STATE_DIR: stateDir } = context.config
  return withLock(stateDir, 'spending', context.timeouts.lock, async (requireHeld) => {
    await requireRoom(context, chain, entry, budgets)
    await requireHeld()
    await beforeTaking()
    await journal.record(entry).catch((error: NodeJS.ErrnoException) => {
      throw new Refused(
        `the journal cannot be written (${error.code}): make room in SIGNER_STATE_DIR; nothing was paid`,
      )
    })
  })
}

type Priced = Pick<Entry, 'amount' | 'signedAt'>

/** Throws when the amount exceeds what is left of the signer's day or of the owners' caps. */
export async function requireRoom(
  context: Context,
  chain: Chain,
  priced: Priced,
  budgets: Budget[],
): Promise<void> {
  await requireRoomToday(context, chain, priced)
  for (const budget of budgets) {
    await requireRoomInBudget(context.config.SIGNER_STATE_DIR, chain, priced, budget)
  }
}

/** What all wallets of this signer have signed since the UTC day began, without what was certainly not paid. */
export async function signedSince(stateDir: string, day: string): Promise<Entry[]> {
  const days = (await listDays(stateDir)).filter((each) => each >= day)
  const entries = (await Promise.all(days.map((each) => listDay(stateDir, each)))).flat()
  return entries.filter(({ outcome }) => outcome === null || outcome.state === 'settled')
}

async function requireRoomToday(
  { config: { MAX_PER_DAY: most, SIGNER_STATE_DIR: stateDir } }: Context,
  chain: Chain,
  { amount, signedAt }: Priced,
): Promise<void> {
  if (most === undefined) return
  const signed = await signedSince(stateDir, signedAt.slice(0, 10))
  const room = await roomIn(most, amount, signed, (entry) => isVoid(chain, entry))
  if (room >= BigInt(amount)) return
  throw new NotBought(
    `the price ${amount} exceeds the ${room} USDC base units that are left today of the ${most} that this signer pays in a UTC day: wait until midnight UTC, or let its operator raise MAX_PER_DAY; nothing was paid`,
  )
}

/** The marketplace counts purchases up to a block: purchases that were, or may have been, settled later are added here. */
async function requireRoomInBudget(
  stateDir: string,
  chain: Chain,
  { amount }: Priced,
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

/** What remains of a limit after these entries. Asks the chain about undecided entries only when too little remains. */
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

/** Whether nothing was paid with the authorisation and nothing can be. */
async function isVoid(chain: Chain, entry: Entry): Promise<boolean> {
  if (entry.chainId !== chain.chainId) return false
  const { state } = await readPaymentState(chain, entry)
  return state === 'never' || state === 'refunded'
}

/** Whether the entry costs nothing, or the marketplace has counted it. */
async function isCounted(chain: Chain, entry: Entry, asOfBlock: number): Promise<boolean> {
  if (await isVoid(chain, entry)) return true
  // The node may lack the state of that block: then the entry is counted twice rather than not at all.
  const then = await readPaymentState(chain, entry, asOfBlock).catch(() => undefined)
  return then?.state === 'settled'
}

/** Reads days backwards until one has purchases but none after the block: later days have later blocks. */
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
