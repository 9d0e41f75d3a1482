// Publishes the review of a purchase: its hash on the chain, then its text at the market. Each step can be repeated and takes effect once.
import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { type Address, parseEventLogs } from 'viem'
import type { Api } from '../../../api/api.ts'
import { ApiError } from '../../../api/error.ts'
import { Problem } from '../../../api/problem.ts'
import type { Connected } from '../../../wallet/config.ts'
import { type Draft, removeDraft, saveDraft } from './draft.ts'
import type { Escrow } from './escrow.ts'
import { readTerms } from './terms.ts'

export const STEPS = [
  'The market checks the text',
  'You confirm the transaction in your wallet',
  'The chain takes it',
  'The market gets the text',
] as const

interface Publishing {
  api: Api
  connected: Connected
  escrow: Escrow
  draft: Draft
  /** Called with the index of the step that begins. */
  onStep: (step: number) => void
}

export async function publishReview({ api, connected, escrow, draft, onStep }: Publishing): Promise<void> {
  const { reads, wallet, chainId } = connected
  const { contract, terms } = await readTerms(api, escrow.escrow_id)
  const { chains } = await api.get('/.well-known/referrer-agent')
  const registry = chains.find((chain) => chain.chainId === chainId)?.reviewRegistry as Address
  const published = () =>
    reads.readContract({
      address: registry,
      abi: reviewRegistryAbi,
      functionName: 'reviewOfEscrow',
      args: [contract, terms.escrowId],
    })

  let reviewId = await published()
  if (reviewId === 0n && draft.transaction === null) {
    onStep(0)
    await requireAccepted(api, escrow, draft.content)
    const { buyerAgentId: agentId, merchantId, productId } = terms
    const contentHash = ContentHash.contentHash({ agentId, merchantId, productId, content: draft.content })
    onStep(1)
    saveDraft(escrow, draft)
    const transaction = await wallet.writeContract({
      address: registry,
      abi: reviewRegistryAbi,
      functionName: 'publishWithEscrow',
      args: [contract, terms, contentHash],
    })
    draft.transaction = transaction
    saveDraft(escrow, draft)
  }
  if (reviewId === 0n && draft.transaction) {
    onStep(2)
    const { status, logs } = await reads.waitForTransactionReceipt({ hash: draft.transaction })
    if (status !== 'success') {
      saveDraft(escrow, { ...draft, transaction: null })
      throw new Problem('The transaction failed, and nothing was published', 'Try again.')
    }
    const event = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs }).find(
      ({ args }) => args.proofId === terms.escrowId,
    )
    reviewId = event?.args.reviewId ?? (await published())
  }
  onStep(3)
  await register(api, {
    review_id: Number(reviewId),
    escrow_id: escrow.escrow_id,
    content_json: draft.content,
  })
  removeDraft(escrow)
}

async function requireAccepted(api: Api, escrow: Escrow, content: string): Promise<void> {
  const { valid, problem } = await api.post('/v1/review/check', {
    body: { merchant_id: escrow.merchant_id, product_id: escrow.product_id, content_json: content },
  })
  if (valid) return
  throw new Problem(
    (problem ?? 'the market would refuse this text').replace(/: invalid input$/, ''),
    'Nothing was published. Change the text, then try again.',
  )
}

const PATIENCE_MS = 60_000
const PAUSE_MS = 1_000

/** The market reads the chain with a little delay: until then it knows no such review. */
async function register(
  api: Api,
  body: { review_id: number; escrow_id: number; content_json: string },
): Promise<void> {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      await api.post('/v1/review/register', { body })
      return
    } catch (error) {
      const isEarly =
        error instanceof ApiError && (error.status === 404 || error.message.includes('indexed yet'))
      if (!isEarly || Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}
