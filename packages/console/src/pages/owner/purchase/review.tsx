import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../../api/use-api.ts'
import type { Session } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Hash } from '../../../ui/values.tsx'
import type { Connected } from '../../../wallet/config.ts'
import { OwnWallet } from '../../../wallet/own-wallet.tsx'
import { withProblems } from '../../../wallet/problem.ts'
import { fieldsOf } from './content.ts'
import { type Draft, openDraft, readDrafts } from './draft.ts'
import type { Escrow } from './escrow.ts'
import { publishReview, STEPS } from './publish.ts'
import { ReviewForm } from './review-form.tsx'

export const Review = ({ escrow, session }: { escrow: Escrow; session: Session }) => (
  <>
    <p>
      Say how the product was. The hash of your text goes to the chain, the text to the market; both are
      public. Your review gets a ref link of its own, which earns commission.
    </p>
    <OwnWallet session={session}>{(connected) => <Write escrow={escrow} connected={connected} />}</OwnWallet>
  </>
)

function Write({ escrow, connected }: { escrow: Escrow; connected: Connected }) {
  const api = useApi()
  const queries = useQueryClient()
  const [begun, setBegun] = useState(() => openDraft(readDrafts(escrow)))
  /** Another text is written than the one that was begun, which is kept. */
  const [isAnother, setAnother] = useState(false)
  const [step, setStep] = useState<number>()
  // The refusal of an empty text tells what the category asks for.
  const needs = useQuery({
    queryKey: ['content needs', escrow.merchant_id, escrow.product_id],
    queryFn: () =>
      api.post('/v1/review/check', {
        body: { merchant_id: escrow.merchant_id, product_id: escrow.product_id, content_json: '{}' },
      }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (draft: Draft) =>
      withProblems(publishReview({ api, connected, escrow, draft, onStep: setStep })),
    onSuccess: async () => {
      announce('Your review is published')
      await queries.invalidateQueries({ queryKey: ['/v1/escrow/{id}'] })
      await queries.invalidateQueries({ queryKey: ['/v1/review-internal/{id}'] })
    },
    onSettled: (_, _error, { content }) => {
      const open = openDraft(readDrafts(escrow))
      setStep(undefined)
      setBegun(open)
      if (open?.content === content || open?.transaction) setAnother(false)
    },
  })
  if (begun && !isAnother) {
    return isPending ? (
      <Progress step={step ?? 0} />
    ) : (
      <Begun
        draft={begun}
        error={error}
        onGoOn={() => mutate(begun)}
        onAnother={() => {
          reset()
          setAnother(true)
        }}
      />
    )
  }
  if (escrow.buyer_review && !isPending) {
    return (
      <div className="note">
        <p>
          <strong>
            Review {escrow.buyer_review.on_chain_id} is on the chain, and the market lacks its text.
          </strong>{' '}
          Only where it was written the text is known: open this page in that browser, or let the agent call{' '}
          <code>register_purchase_review</code>.
        </p>
        {error && <ErrorNote error={error} />}
      </div>
    )
  }
  if (needs.error) return <ErrorNote error={needs.error} onRetry={() => needs.refetch()} />
  if (!needs.data) return <Skeleton lines={6} />
  return (
    <>
      {isPending && <Progress step={step ?? 0} />}
      {/* It stays, so that what was typed is there when the market refuses it. */}
      <div hidden={isPending}>
        <ReviewForm
          fields={fieldsOf(needs.data.content_needs?.schema)}
          mustHold={needs.data.content_needs?.must_hold ?? []}
          onSubmit={(content) => mutate({ content, transaction: null })}
        />
      </div>
      {error && <ErrorNote error={error} />}
    </>
  )
}

interface BegunProps {
  draft: Draft
  error: unknown
  onGoOn: () => void
  onAnother: () => void
}

/** A text that a wallet was asked to publish, and what can be done with it. */
const Begun = ({ draft: { content, transaction }, error, onGoOn, onAnother }: BegunProps) => (
  <div className="stack">
    {Boolean(error) && <ErrorNote error={error} />}
    <div className="note">
      <p>
        <strong>You began a review here.</strong>{' '}
        {transaction
          ? 'Its transaction was sent. The market does not have the text yet.'
          : 'The chain does not have it so far. It takes one review of a purchase: you can send it again.'}
      </p>
      <blockquote>{descriptionIn(content)}</blockquote>
      {transaction && (
        <p className="small soft">
          Transaction <Hash value={transaction} label="transaction" />
        </p>
      )}
    </div>
    <div className="row">
      <Button kind="main" onClick={onGoOn}>
        Go on with it
      </Button>
      {transaction === null && <Button onClick={onAnother}>Write another</Button>}
    </div>
  </div>
)

/** The draft is a text of our own form. */
const descriptionIn = (content: string): string => String(JSON.parse(content).description ?? content)

const Progress = ({ step }: { step: number }) => (
  <ol className="publishing" role="status" aria-label="Publishing the review">
    {STEPS.map((text, index) => (
      <li key={text} className={index < step ? 'is-done' : index === step ? 'is-now' : ''}>
        {text}
        {index === step && ' …'}
      </li>
    ))}
  </ol>
)
