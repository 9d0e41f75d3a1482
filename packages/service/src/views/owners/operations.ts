// What the owner of an agent, or a wallet, has bought and submitted. From the index: a little behind the chain.
import { type Address, isAddressEqual } from 'viem'
import { z } from 'zod'
import type { Chain, Context } from '../../kit/context.ts'
import { hex32, momentShown, wholeNumber } from '../../kit/fields.ts'
import { hex, time, whole } from '../../kit/json-values.ts'
import { MarketError } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { cashbackLeg, isCashbackOpen, Leg } from '../../market/escrows/legs.ts'
import { Purchase, shownPurchase } from '../../market/escrows/purchase.ts'
import { nameOf, votesMissing } from '../../market/votes/gate.ts'
import { type PageQuery, pageShown, readPage } from '../page.ts'
import { type Buyer, ownerOfAgent, proofsOfAgent, purchasesOf } from './store.ts'

export const OwnPurchases = z
  .object({
    purchases: z.array(
      Purchase.extend({
        has_review: z.boolean().meta({ about: 'Whether the buyer has published a review of it.' }),
        has_voted: z.boolean(),
        window_end: momentShown,
        cashback: Leg,
      }).meta({ id: 'OwnPurchase' }),
    ),
    ...pageShown,
  })
  .meta({ id: 'OwnPurchases' })

/** What an agent bought, for its owner. */
export async function purchasesOfAgent(
  context: Context,
  chain: Chain,
  caller: Address,
  { agentId, ...asked }: PageQuery & { agentId: bigint },
): Promise<z.output<typeof OwnPurchases>> {
  await requireOwnerOf(context, chain, agentId, caller)
  return listPurchases(context, chain, { agentId }, asked)
}

/** What a wallet paid for, as itself or for an agent. */
export const purchasesOfWallet = (context: Context, chain: Chain, wallet: Address, asked: PageQuery) =>
  listPurchases(context, chain, { payer: bytesOf(wallet) }, asked)

async function listPurchases(
  context: Context,
  { config: { chainId } }: Chain,
  buyer: Buyer,
  asked: PageQuery,
): Promise<z.output<typeof OwnPurchases>> {
  const { sql } = context
  const { rows, ...shown } = await readPage(asked, (part) => purchasesOf(sql, chainId, buyer, part))
  const open = rows.filter((row) => isCashbackOpen(row) && row.buyer_agent_id !== null)
  const withoutVotes = await votesMissing(sql, chainId, open)
  const purchases = rows.map((row) => ({
    ...shownPurchase(context, row),
    has_review: row.buyer_review === true,
    has_voted: row.has_voted,
    window_end: time(row.window_end),
    cashback: cashbackLeg(row, { isBuyer: true, areVotesMissing: withoutVotes.has(nameOf(row)) }),
  }))
  return { purchases, ...shown }
}

export const OwnProofs = z
  .object({
    proofs: z.array(
      z.object({
        proof_id: wholeNumber,
        merchant_id: wholeNumber,
        product_id: hex32,
        product_name: z.string().meta({ about: 'Empty until the merchant describes the product.' }),
        status: z.enum(['pending', 'approved', 'rejected']),
        submitted_at: momentShown,
        reviewed_at: momentShown.nullable(),
        machine_note: z.string().nullable().meta({
          about: 'Of a receipt that no machine has approved: why. Null for proofs without a receipt.',
        }),
      }),
    ),
    ...pageShown,
  })
  .meta({ id: 'OwnProofs' })

/** The proofs of an agent, for its owner. The admins' notes are not shown. */
export async function proofsOf(
  context: Context,
  chain: Chain,
  caller: Address,
  { agentId, ...asked }: PageQuery & { agentId: bigint },
): Promise<z.output<typeof OwnProofs>> {
  await requireOwnerOf(context, chain, agentId, caller)
  const { rows, ...shown } = await readPage(asked, (part) =>
    proofsOfAgent(context.sql, chain.config.chainId, agentId, part),
  )
  const proofs = rows.map((row) => ({
    proof_id: whole(row.proof_id),
    merchant_id: whole(row.merchant_id),
    product_id: hex(row.product_id),
    product_name: row.product_name ?? '',
    status: row.status,
    submitted_at: time(row.submitted_at),
    reviewed_at: row.reviewed_at && time(row.reviewed_at),
    machine_note: row.machine_note,
  }))
  return { proofs, ...shown }
}

async function requireOwnerOf(
  { sql }: Context,
  { config: { chainId } }: Chain,
  agentId: bigint,
  caller: Address,
): Promise<void> {
  const owner = await ownerOfAgent(sql, chainId, agentId)
  if (!owner) throw new MarketError('not found', 'not found')
  if (!isAddressEqual(hex(owner), caller)) {
    throw new MarketError('unauthorized', 'caller does not own this agent')
  }
}
