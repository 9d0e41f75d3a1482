// Decisions of admins. Two admins may take the same decision concurrently; each is logged with the admin's address.
import type { Address } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { MarketError } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { flagAgent } from '../agents/store.ts'
import { removeChecklist, saveChecklist } from '../checklists/store.ts'
import { type Decision, decideProof } from '../proofs/store.ts'
import { resolveDispute } from '../reviews/disputes.ts'
import { decideShop, type Outcome } from '../verifications/store.ts'

export interface Admin {
  context: Context
  caller: Address
}

export interface AdminOfChain extends Admin {
  chain: Chain
}

/** Decides a pending proof; returns the time of the decision. */
export async function decide(
  { context, chain, caller }: AdminOfChain,
  proofId: bigint,
  { status, note }: Pick<Decision, 'status' | 'note'>,
): Promise<Date> {
  const { sql, clock } = context
  const { chainId } = chain.config
  const at = new Date(clock())
  const { state } = await decideProof(sql, chainId, proofId, { status, note, by: bytesOf(caller), at })
  if (state === 'unknown') throw new MarketError('not found', `there is no proof ${proofId}`)
  if (state === 'not pending') throw new MarketError('conflict', 'proof is already decided')
  logAction({ context, caller }, `proof ${status}`, { chainId, proofId })
  return at
}

export async function setFlag(
  { context, chain, caller }: AdminOfChain,
  agentId: bigint,
  flagged: boolean,
): Promise<void> {
  const { chainId } = chain.config
  if (!(await flagAgent(context.sql, chainId, agentId, flagged ? new Date(context.clock()) : null))) {
    throw new MarketError('not found', `there is no agent ${agentId}`)
  }
  logAction({ context, caller }, flagged ? 'agent flagged' : 'agent unflagged', { chainId, agentId })
}

export async function resolve(
  { context, chain, caller }: AdminOfChain,
  internalId: bigint,
  { note, upheld }: { note: string; upheld: boolean },
): Promise<void> {
  const { sql, clock } = context
  const { chainId } = chain.config
  const decision = { note, upheld, by: bytesOf(caller), at: new Date(clock()) }
  const outcome = await resolveDispute(sql, chainId, internalId, decision)
  if (outcome === 'unknown') throw new MarketError('not found', `there is no review ${internalId}`)
  if (outcome === 'not disputed') throw new MarketError('conflict', 'review is not disputed')
  logAction({ context, caller }, upheld ? 'dispute resolved: upheld' : 'dispute resolved', {
    chainId,
    internalId,
  })
}

/** Verifies a shop or takes it back. A decision for the state that it has already changes nothing. */
export async function decideOnShop(
  { context, chain, caller }: AdminOfChain,
  merchantId: bigint,
  { isVerified, note }: { isVerified: boolean; note: string },
): Promise<Exclude<Outcome, 'unknown'>> {
  const { sql, clock } = context
  const { chainId } = chain.config
  const decision = { isVerified, note, by: bytesOf(caller), at: new Date(clock()) }
  const outcome = await decideShop(sql, chainId, merchantId, decision)
  if (outcome === 'unknown') throw new MarketError('not found', `there is no merchant ${merchantId}`)
  if (outcome.hasChanged) {
    const action = isVerified ? 'shop verified' : 'verification withdrawn'
    logAction({ context, caller }, action, { chainId, merchantId })
  }
  return outcome
}

/** Creates or replaces the checklist of a category; returns the time. */
export async function authorChecklist(
  { context, caller }: Admin,
  category: string,
  items: string[],
): Promise<Date> {
  const at = new Date(context.clock())
  await saveChecklist(context.sql, { category, items, authored_at: at, authored_by: bytesOf(caller) })
  logAction({ context, caller }, 'checklist authored', { category })
  return at
}

export async function dropChecklist({ context, caller }: Admin, category: string): Promise<void> {
  await removeChecklist(context.sql, category)
  logAction({ context, caller }, 'checklist removed', { category })
}

/** Writes a decision of an admin into the log. */
export function logAction(
  { context, caller }: Admin,
  action: string,
  about: Record<string, bigint | number | string>,
): void {
  const ids = Object.entries(about).map(([name, value]) => [name, String(value)])
  context.log.info({ admin: caller, action, ...Object.fromEntries(ids) }, 'an admin acted')
}
