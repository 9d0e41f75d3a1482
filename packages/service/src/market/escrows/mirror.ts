import type { Transaction } from '@referrer/database'
import { Attribution } from '@referrer/protocol'
import type { Hex } from 'viem'
import type { EventOf } from '../../kit/events.ts'
import {
  arrayOf,
  Changes,
  insertRows,
  type Row,
  type Table,
  type Value,
  writeChanges,
} from '../../machinery/db/rows.ts'

export type EscrowEvent = EventOf<'CommissionEscrow'> | EventOf<'SplitRouter'>
type Deposited = Extract<EscrowEvent, { name: 'EscrowDeposited' }>

const escrows: Table = {
  name: 'chain.escrows',
  key: { chain_id: 'bigint', contract: 'bytea', escrow_id: 'bigint' },
  columns: {
    reviewer_agent_id: 'bigint',
    buyer_agent_id: 'bigint',
    buyer_owner: 'bytea',
    payer: 'bytea',
    nonce: 'bytea',
    merchant_id: 'bigint',
    product_id: 'bytea',
    review_id: 'bigint',
    price: 'numeric',
    commission: 'numeric',
    fee: 'numeric',
    held_back: 'numeric',
    cashback: 'numeric',
    window_end: 'time',
    deposited_at: 'time',
    block_number: 'bigint',
    log_index: 'integer',
    transaction_hash: 'bytea',
    bound_by: 'bytea',
    bound_at: 'time',
    cashback_released_at: 'time',
    settled_at: 'time',
    settled_by: 'bytea',
    fallback_used: 'boolean',
    held_back_to_reviewer: 'numeric',
    held_back_to_treasury: 'numeric',
    cashback_to_buyer: 'numeric',
    cashback_to_reviewer: 'numeric',
  },
}

const payouts: Table = {
  name: 'chain.payouts',
  key: { chain_id: 'bigint', block_number: 'bigint', log_index: 'integer' },
  columns: {
    contract: 'bytea',
    account: 'bytea',
    claimed: 'boolean',
    amount: 'numeric',
    happened_at: 'time',
  },
}

const skipped: Table = {
  name: 'chain.skipped_escrows',
  key: { chain_id: 'bigint', block_number: 'bigint', log_index: 'integer' },
  columns: {
    contract: 'bytea',
    payer: 'bytea',
    nonce: 'bytea',
    escrow_id: 'numeric',
    transaction_hash: 'bytea',
    reason: 'bytea',
  },
}

/** Indexes purchases and the payouts of their commission. */
export async function applyEscrowEvents(
  tx: Transaction,
  chainId: number,
  events: EscrowEvent[],
): Promise<void> {
  const buyerOwners = await ownersOfBuyers(tx, chainId, events)
  const rows = new Changes()
  const paid: Row[] = []
  const left: Row[] = []
  for (const event of events) {
    const at = event.timestamp
    const contract = { chain_id: chainId, contract: event.address }
    const position = { block_number: event.blockNumber, log_index: event.logIndex }
    switch (event.name) {
      case 'EscrowDeposited': {
        const { args } = event
        rows.create(
          { ...contract, escrow_id: args.escrowId },
          {
            reviewer_agent_id: args.reviewerAgentId,
            buyer_agent_id: args.buyerAgentId === Attribution.AGENTLESS_BUYER_ID ? null : args.buyerAgentId,
            buyer_owner: buyerOwners.get(event) ?? null,
            payer: args.payer,
            nonce: args.nonce,
            merchant_id: args.merchantId,
            product_id: args.productId,
            review_id: args.reviewId,
            price: args.price,
            commission: args.commission,
            fee: args.fee,
            held_back: args.heldBack,
            cashback: args.cashback,
            window_end: args.windowEnd,
            deposited_at: at,
            ...position,
            transaction_hash: event.transactionHash,
          },
        )
        break
      }
      case 'EscrowBound': {
        const { escrowId, agentId, boundBy } = event.args
        const bound = { buyer_agent_id: agentId, bound_by: boundBy, bound_at: at }
        rows.change({ ...contract, escrow_id: escrowId }, bound)
        break
      }
      case 'CashbackReleased':
        rows.change({ ...contract, escrow_id: event.args.escrowId }, { cashback_released_at: at })
        break
      case 'EscrowSettled': {
        const { args } = event
        rows.change(
          { ...contract, escrow_id: args.escrowId },
          {
            settled_at: at,
            settled_by: args.settledBy,
            fallback_used: args.fallbackUsed,
            held_back_to_reviewer: args.heldBackToReviewer,
            held_back_to_treasury: args.heldBackToTreasury,
            cashback_to_buyer: args.cashbackToBuyer,
            cashback_to_reviewer: args.cashbackToReviewer,
          },
        )
        break
      }
      case 'EscrowSkipped': {
        const { escrowId, payer, nonce, reason } = event.args
        const { transactionHash: transaction_hash } = event
        left.push({ ...contract, ...position, escrow_id: escrowId, payer, nonce, transaction_hash, reason })
        break
      }
      case 'PayoutDeferred':
      case 'PayoutClaimed': {
        const { account, amount } = event.args
        const claimed = event.name === 'PayoutClaimed'
        paid.push({ ...contract, ...position, account, claimed, amount, happened_at: at })
        break
      }
    }
  }
  await Promise.all([
    writeChanges(tx, escrows, rows),
    insertRows(tx, payouts, paid),
    insertRows(tx, skipped, left),
  ])
}

/** The owners of the buying agents at the time of purchase. An agent may be transferred in the same block, before or after it. */
async function ownersOfBuyers(
  tx: Transaction,
  chainId: number,
  events: EscrowEvent[],
): Promise<Map<EscrowEvent, Hex>> {
  const bought = events.filter(
    (event): event is Deposited =>
      event.name === 'EscrowDeposited' && event.args.buyerAgentId !== Attribution.AGENTLESS_BUYER_ID,
  )
  if (bought.length === 0) return new Map()
  const column = (pick: (event: Deposited) => Value) => arrayOf('bigint', bought.map(pick))
  const rows = await tx<{ at: bigint; owner: Hex }[]>`
    SELECT e.at, '0x' || encode(o.to_owner, 'hex') AS owner
    FROM unnest(
      ${column(({ args }) => args.buyerAgentId)}::bigint[],
      ${column(({ blockNumber }) => blockNumber)}::bigint[],
      ${column(({ logIndex }) => logIndex)}::integer[]
    ) WITH ORDINALITY AS e (agent_id, block_number, log_index, at),
    LATERAL (
      SELECT to_owner FROM chain.ownership_changes AS o
      WHERE o.chain_id = ${chainId} AND o.agent_id = e.agent_id
        AND (o.block_number, o.log_index) < (e.block_number, e.log_index)
      ORDER BY o.block_number DESC, o.log_index DESC LIMIT 1) AS o`
  return new Map(
    rows.flatMap(({ at, owner }) => {
      const event = bought[Number(at) - 1]
      return event ? [[event, owner]] : []
    }),
  )
}
