// Publishes the review of a purchase: its hash on the chain, then its text at the market. The contract takes one review of a purchase, so
// no step takes effect twice; every text that a wallet was asked to publish is kept until the market has the one that was mined.
//
// | what becomes of the transaction            | what the person finds                                                  |
// | ------------------------------------------ | ---------------------------------------------------------------------- |
// | declined, or refused when tried            | the form with the text; nothing is kept                                |
// | mined, also with a higher fee              | the review is published                                                |
// | failed, cancelled, replaced, lost          | the text, to send again or to write another                            |
// | not in a block yet                         | the text, to go on with: the same transaction is looked for            |
// | page closed before the wallet answered     | the text: the chain is asked first, then it can be sent                |
// | mined while another text was sent          | the text that was mined is published, whichever it is                  |
// | sent in another tab                        | that one, to go on with                                                |
import { refusalOf } from '@referrer/client/chain'
import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import type { Address } from 'viem'
import type { Api } from '../../../api/api.ts'
import { ApiError } from '../../../api/error.ts'
import { Problem } from '../../../api/problem.ts'
import type { Connected } from '../../../wallet/config.ts'
import { isDeclined } from '../../../wallet/problem.ts'
import { transact, UnfinishedTransaction } from '../../../wallet/transaction.ts'
import { type Draft, forgetDraft, openDraft, readDrafts, removeDrafts, saveDraft } from './draft.ts'
import type { Escrow } from './escrow.ts'
import { type EscrowTerms, readTerms } from './terms.ts'

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

interface OnChain {
  registry: Address
  escrowContract: Address
  terms: EscrowTerms
}

export async function publishReview(publishing: Publishing): Promise<void> {
  const { api, connected, escrow, draft, onStep } = publishing
  const { contract: escrowContract, terms } = await readTerms(api, escrow.escrow_id)
  const { chains } = await api.get('/.well-known/referrer-agent')
  const registry = chains.find(({ chainId }) => chainId === connected.chainId)?.reviewRegistry as Address
  const onChain = { registry, escrowContract, terms }
  if (!(await publishedReview(connected, onChain))) await send(publishing, onChain)
  const review = await publishedReview(connected, onChain)
  if (!review) {
    throw new Problem('Your node does not show the review yet', 'Wait a few seconds, then go on with it.')
  }
  const text = [...readDrafts(escrow), draft].find(
    ({ content }) => hashOf(terms, content) === review.contentHash,
  )
  if (!text) {
    removeDrafts(escrow)
    throw new Problem(
      `Review ${review.id} of this purchase is on the chain with another text`,
      'Give the market that text from where it was written: another browser, or the agent’s own tools.',
    )
  }
  onStep(3)
  await register(api, {
    review_id: review.id,
    escrow_id: escrow.escrow_id,
    content_json: text.content,
  })
  removeDrafts(escrow)
}

const hashOf = ({ buyerAgentId: agentId, merchantId, productId }: EscrowTerms, content: string) =>
  ContentHash.contentHash({ agentId, merchantId, productId, content })

/** The review of the purchase that the chain has; undefined: none. */
async function publishedReview(
  { reads }: Connected,
  { registry: address, escrowContract, terms }: OnChain,
): Promise<{ id: number; contentHash: string } | undefined> {
  const registry = { address, abi: reviewRegistryAbi } as const
  const id = await reads.readContract({
    ...registry,
    functionName: 'reviewOfEscrow',
    args: [escrowContract, terms.escrowId],
  })
  if (id === 0n) return undefined
  const { contentHash } = await reads.readContract({ ...registry, functionName: 'getReview', args: [id] })
  return { id: Number(id), contentHash }
}

/** Returns when the chain may have the review: the caller looks. */
async function send(
  { api, connected, escrow, draft, onStep }: Publishing,
  { registry, escrowContract, terms }: OnChain,
): Promise<void> {
  const sent = draft.transaction
  if (!sent) {
    onStep(0)
    await requireAccepted(api, escrow, draft.content)
    const open = openDraft(readDrafts(escrow))
    if (open?.transaction && open.content !== draft.content) {
      throw new Problem('You have sent a review in another tab', 'Go on with that one.')
    }
    onStep(1)
    // Kept before the wallet is asked: it may send the transaction after this page is closed.
    saveDraft(escrow, draft)
  }
  const call = {
    address: registry,
    abi: reviewRegistryAbi,
    functionName: 'publishWithEscrow',
    args: [escrowContract, terms, hashOf(terms, draft.content)],
  }
  try {
    await transact(connected, call, {
      sent,
      onSent(transaction) {
        saveDraft(escrow, { ...draft, transaction })
        if (transaction) onStep(2)
      },
    })
  } catch (error) {
    if (isDeclined(error) || refusalOf(error) !== undefined) forgetDraft(escrow, draft.content)
    // The wallet may have published it with a transaction that it did not tell us.
    if (!(error instanceof UnfinishedTransaction)) throw error
    if (!(await publishedReview(connected, { registry, escrowContract, terms }))) throw error
  }
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
