/**
 * A durable outbox for one's own transactions: each intent takes effect exactly once on-chain, or never when it fails.
 *
 * An intent gets its nonce, and the signed transaction is stored, in one database transaction before it is sent to any node. Everything
 * signed for the intent has that nonce, so the chain takes at most one. Each round reads the outcome from the chain:
 * - a crash before the nonce is stored: nothing has happened, the intent is still enqueued;
 * - a crash after it, or after a broadcast whose answer never came: the next round sends the same bytes to every node that lacks them;
 * - a crash after it was mined: the next round finds its receipt;
 * - a repeat: enqueueing the same key again is the same intent;
 * - a withdrawal or a change of its signer while it is about to be sent: whoever updates its row first wins, and the other update matches no row;
 * - a race: one process per signer sends, under a lock that its database connection holds; another one takes over when it is lost, and
 *   the loser's writes fail with the connection. Two intents can never hold one nonce;
 * - a reorganisation: an outcome is final only `confirmations` blocks deep, on a block that no node contradicts; until then a transaction
 *   whose block is gone is sent again;
 * - a nonce used by a foreign transaction: once that is final and a node shows the transaction, the intent gets another nonce, never before;
 * - a remote signer that is away: nothing gets a nonce, what was signed before is sent again, everything else waits;
 * - a dead node: the others are used; with none left, everything waits;
 * - a dead database: nothing is signed or sent until it is back.
 */

export {
  enqueueTransaction,
  handOverTransaction,
  isServed,
  readTransaction,
  releaseKey,
  type SignerHealth,
  senderHealth,
  type TransactionRequest,
  type TransactionStatus,
  withdrawTransaction,
} from './outbox.ts'
export { revertReason } from './revert-reason.ts'
export { createSender, type Sender, type SenderOptions } from './sender.ts'
export type { Origin, SenderEvent, TransactionState } from './types.ts'
