// The operations of owners on intents: queue, list and withdraw. The operations of runners are in `runner.ts`.
import type { Transaction } from '@referrer/database'
import type { Address } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { MarketError } from '../../kit/market-error.ts'
import { ownerOf } from '../../kit/onchain.ts'
import { requireOwner, resolveOwner } from '../../kit/owner.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import type { Page } from '../../machinery/db/page.ts'
import { spendQuota } from '../quotas/store.ts'
import { isIntentId, newIntentId } from './ids.ts'
import { purchaseText } from './payload.ts'
import * as store from './store.ts'

/** Limit for the pending intents of one agent. */
const MOST_PENDING = 1_000
/** Bytes that an intent takes besides its payload, its result included. */
const OVERHEAD = 2_048
export const LIFETIME_SECONDS = { least: 60, usual: 86_400, most: 30 * 86_400 }

export interface Draft {
  /** Left out: a new one. */
  intentId?: string
  agentId: bigint
  type: store.IntentType
  payload: Readonly<Record<string, unknown>>
  lifetimeSeconds: number
}

/** Queues an intent; the agent's runner gets it with its next poll. `first` runs in the same transaction, and nothing is queued when it throws. */
export async function queueIntent(
  context: Context,
  chain: Chain,
  caller: Address,
  { intentId = newIntentId(), agentId, type, payload, lifetimeSeconds }: Draft,
  first: (tx: Transaction) => Promise<void> = async () => {},
): Promise<store.IntentRow> {
  const { least, most } = LIFETIME_SECONDS
  if (lifetimeSeconds < least || lifetimeSeconds > most) {
    throw new MarketError('invalid input', `expires_in must be ${least} to ${most} seconds`)
  }
  const text = purchaseText(payload)
  await requireOwn(chain, agentId, caller)
  const at = context.clock()
  const intent = {
    intentId,
    chainId: chain.config.chainId,
    agentId,
    owner: bytesOf(caller),
    type,
    payload: text,
    at: new Date(at),
    expiresAt: new Date(at + lifetimeSeconds * 1_000),
  }
  return context.sql.begin(async (tx) => {
    await first(tx)
    await spendQuota(tx, at, {
      what: 'intents of this owner',
      who: intent.owner,
      bytes: Buffer.byteLength(text) + OVERHEAD,
      most: context.config.bytesPerDay.intentsOfOwner,
    })
    const row = await store.insertIntent(tx, intent, MOST_PENDING)
    if (row) return row
    throw new MarketError('conflict', `agent ${agentId} has ${MOST_PENDING} pending intents: withdraw some`)
  })
}

/** The intents that the caller queued for an agent that it owns, newest first. */
export async function listIntents(
  context: Context,
  chain: Chain,
  caller: Address,
  { agentId, ...page }: Page & { agentId: bigint },
): Promise<store.IntentRow[]> {
  await requireOwn(chain, agentId, caller)
  const of = { chainId: chain.config.chainId, agentId, owner: bytesOf(caller) }
  return store.listIntents(context.sql, of, page)
}

/** An intent that one of these wallets queued. */
export async function findIntent(
  { sql }: Context,
  wallets: readonly Address[],
  intentId: string,
): Promise<store.IntentRow | undefined> {
  return isIntentId(intentId) ? store.findIntent(sql, wallets.map(bytesOf), intentId) : undefined
}

/** Withdraws a pending intent. The owner who queued it may do so even after the agent was transferred. */
export async function withdrawIntent(context: Context, caller: Address, intentId: string): Promise<void> {
  const at = new Date(context.clock())
  const found = isIntentId(intentId)
    ? await store.withdrawIntent(context.sql, bytesOf(caller), intentId, at)
    : undefined
  if (found === 'done') return
  if (!found) throw new MarketError('not found', 'not found')
  throw new MarketError('conflict', `intent is already ${statusOf(found, at)}`)
}

/** The status of an intent; a pending one past its expiry counts as expired. */
export const statusOf = (
  { status, expires_at }: Pick<store.IntentRow, 'status' | 'expires_at'>,
  now: Date,
) => (status === 'pending' && expires_at <= now ? 'expired' : status)

async function requireOwn(chain: Chain, agentId: bigint, caller: Address): Promise<void> {
  requireOwner(await resolveOwner(agentId, () => ownerOf(chain, agentId)), caller)
}
