import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../../api/use-api.ts'
import type { Session } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import type { Connected } from '../../../wallet/config.ts'
import { OwnWallet } from '../../../wallet/own-wallet.tsx'
import { withProblems } from '../../../wallet/problem.ts'
import { fieldsOf } from './content.ts'
import { type Draft, readDraft, removeDraft } from './draft.ts'
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
  const [begun, setBegun] = useState(() => readDraft(escrow))
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
  const { mutate, isPending, error } = useMutation({
    mutationFn: (draft: Draft) =>
      withProblems(publishReview({ api, connected, escrow, draft, onStep: setStep })),
    onSuccess: async () => {
      announce('Your review is published')
      await queries.invalidateQueries({ queryKey: ['/v1/escrow/{id}'] })
      await queries.invalidateQueries({ queryKey: ['/v1/review-internal/{id}'] })
    },
    onSettled: () => {
      setStep(undefined)
      setBegun(readDraft(escrow))
    },
  })
  if (isPending && begun) return <Progress step={step ?? 0} />
  if (begun) {
    return (
      <div className="note stack-small">
        <p>
          <strong>You began a review here.</strong>{' '}
          {begun.transaction
            ? 'Its transaction was sent; the market does not have the text yet.'
            : 'It may not have been sent.'}
        </p>
        <blockquote className="soft">{begun.content}</blockquote>
        <div className="row">
          <Button kind="main" onClick={() => mutate(begun)}>
            Go on with it
          </Button>
          {begun.transaction === null && (
            <Button
              onClick={() => {
                removeDraft(escrow)
                setBegun(undefined)
              }}
            >
              Write another
            </Button>
          )}
        </div>
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
