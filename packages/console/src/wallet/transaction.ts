// A transaction from the wallet to its end. It is mined, fails, is replaced in the wallet, gets lost, or waits: callers are told which.
import { type ContractCall, sendCall } from '@referrer/client/chain'
import {
  type Hash,
  type PublicClient,
  TransactionNotFoundError,
  type TransactionReceipt,
  WaitForTransactionReceiptTimeoutError,
} from 'viem'
import { Problem } from '../api/problem.ts'
import type { Connected } from './config.ts'

/** What became of a transaction that is not done. Only one that is waiting can still take effect without a new signature. */
export type Unfinished = 'failed' | 'replaced' | 'lost' | 'waiting'

const WORDS: Record<Unfinished, [message: string, next: string]> = {
  failed: ['The transaction failed on the chain', 'Only its fee was paid. Try again.'],
  replaced: ['The transaction was cancelled or replaced in your wallet', 'Nothing happened. Try again.'],
  lost: [
    'The network does not know the transaction any more',
    'It was cancelled, replaced or dropped. Look in your wallet, then try again.',
  ],
  waiting: [
    'The transaction is not in a block yet',
    'Speed it up or cancel it in your wallet, or wait. Then try again here: the same one is looked for first.',
  ],
}

export class UnfinishedTransaction extends Problem {
  readonly why: Unfinished

  constructor(why: Unfinished) {
    super(...WORDS[why])
    this.why = why
  }
}

type Reads = Pick<PublicClient, 'getTransaction' | 'waitForTransactionReceipt'>

const PATIENCE_MS = 60_000

interface Waiting {
  /** Sent a moment ago: a node that does not know it yet will soon. */
  isFresh: boolean
  patienceMs?: number
}

/** The receipt of a transaction that did what it was sent for, also when the wallet sent it again with another fee. */
export async function mined(
  reads: Reads,
  hash: Hash,
  { isFresh, patienceMs = PATIENCE_MS }: Waiting,
): Promise<TransactionReceipt> {
  if (!isFresh && !(await isKnown(reads, hash))) throw new UnfinishedTransaction('lost')
  let isOther = false
  const receipt = await reads
    .waitForTransactionReceipt({
      hash,
      timeout: patienceMs,
      onReplaced: ({ reason }) => {
        isOther = reason !== 'repriced'
      },
    })
    .catch(async (error: unknown) => {
      if (!(error instanceof WaitForTransactionReceiptTimeoutError)) throw error
      throw new UnfinishedTransaction((await isKnown(reads, hash)) ? 'waiting' : 'lost')
    })
  // The receipt of a cancellation says success, too.
  if (isOther) throw new UnfinishedTransaction('replaced')
  if (receipt.status !== 'success') throw new UnfinishedTransaction('failed')
  return receipt
}

const isKnown = (reads: Reads, hash: Hash): Promise<boolean> =>
  reads.getTransaction({ hash }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof TransactionNotFoundError) return false
      throw error
    },
  )

interface Sending {
  /** One that was sent before for the same purpose, and whose end is not known. */
  sent?: Hash | null | undefined
  /** Called with the transaction to remember; with null once it can be forgotten. */
  onSent: (hash: Hash | null) => void
}

/** Tries a call, has the wallet send it, and waits for the block. A second try waits for the first transaction instead of sending another. */
export async function transact(
  { reads, wallet }: Pick<Connected, 'reads' | 'wallet'>,
  call: ContractCall,
  { sent, onSent }: Sending,
): Promise<TransactionReceipt> {
  const hash = sent ?? (await sendCall(reads, wallet, call))
  onSent(hash)
  try {
    return await mined(reads, hash, { isFresh: !sent })
  } catch (error) {
    if (error instanceof UnfinishedTransaction && error.why !== 'waiting') onSent(null)
    throw error
  }
}
