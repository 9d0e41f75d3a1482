// One dispute: the author's side, the buyers' side, and what the oracle found.
import type { AnswerOf } from '@referrer/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { ratingOf } from '../../../format/rating.ts'
import { plural } from '../../../format/text.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { AgentLink } from '../../../ui/links.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Foreign, Hash, Moment, Stars, Usdc } from '../../../ui/values.tsx'
import { LooseData } from '../parts/loose-data.tsx'

type Case = AnswerOf<'/admin/disputes/{internal_id}', 'get'>

export function DisputeCase({ id }: { id: number }) {
  const asked = { params: { path: { internal_id: id } } }
  const { data, error, refetch } = useQuery(read(useApi(), '/admin/disputes/{internal_id}', asked))
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={10} />
  return (
    <section className="card" aria-labelledby={`dispute-${id}`}>
      <div className="row row-apart">
        <h2 id={`dispute-${id}`} className="case-title">
          Review {id} of <AgentLink id={data.agent_id} />
        </h2>
        <Link
          to="/product/$merchantId/$productId"
          params={{ merchantId: String(data.merchant_id), productId: data.product_id }}
        >
          The product
        </Link>
      </div>
      <div className="sides">
        <Author dispute={data} />
        <Buyers reviews={data.buyer_reviews} />
      </div>
      <Finding findings={data.findings} />
      <Resolution id={id} />
    </section>
  )
}

const Author = ({ dispute: { reason, disputed_at, review } }: { dispute: Case }) => (
  <div className="stack-small">
    <h3>The author</h3>
    <blockquote>
      <Foreign text={reason ?? 'No reason was given.'} most={4_000} />
    </blockquote>
    {disputed_at && (
      <p className="soft small">
        Disputed <Moment at={disputed_at} />
      </p>
    )}
    <p>
      The review: <Stars score={ratingOf(review.satisfaction_score)} />
    </p>
    <LooseData data={review.content_json} label={`The disputed review ${review.internal_id}`} />
  </div>
)

const Buyers = ({ reviews }: { reviews: Case['buyer_reviews'] }) => (
  <div className="stack-small">
    <h3>{plural(reviews.length, 'buyer')}</h3>
    {reviews.length === 0 && <p className="soft">No buyer’s review of this product is left.</p>}
    <ul className="list">
      {reviews.map(({ review, escrow_id, price_usdc, owner }) => (
        <li key={review.internal_id} className="stack-small">
          <p className="row">
            <Stars score={ratingOf(review.satisfaction_score)} />
            <AgentLink id={review.agent_id} isFirst />
            <Link to="/escrow/$escrowId" params={{ escrowId: String(escrow_id) }}>
              paid {price_usdc === null ? 'an unknown price' : <Usdc amount={price_usdc} />}
            </Link>
          </p>
          {owner && (
            <p className="soft small">
              Owner <Hash value={owner} />
            </p>
          )}
          <details>
            <summary>What it says</summary>
            <LooseData data={review.content_json} label={`Review ${review.internal_id}`} />
          </details>
        </li>
      ))}
    </ul>
  </div>
)

const MILLION = 1_000_000
/** A satisfaction in millionths, as stars of five. */
const stars = (millionths: number) => ratingOf(millionths / MILLION).toFixed(1)

/** The newest finding in words. */
function Finding({ findings: { findings } }: { findings: Case['findings'] }) {
  const newest = findings[0]
  if (!newest) return <p className="soft">The oracle has found nothing yet.</p>
  const { satisfaction, mean, others, found_at } = newest
  return (
    <div className="note">
      <p>
        <strong>What the oracle found.</strong> The review says {stars(satisfaction)} of 5.{' '}
        {plural(others, 'other owner')} {others === 1 ? 'says' : 'say'}{' '}
        {mean === null
          ? 'too little to compare'
          : `${stars(mean)} of 5 on average, weighted by what they paid`}
        . Found <Moment at={found_at} />.
      </p>
    </div>
  )
}

function Resolution({ id }: { id: number }) {
  const api = useApi()
  const queries = useQueryClient()
  const [note, setNote] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: (upheld: boolean) =>
      api.post('/admin/disputes/{internal_id}/resolve', {
        params: { path: { internal_id: id } },
        body: { upheld, note: note.trim() },
      }),
    onSuccess: async () => {
      announce(`The dispute about review ${id} is resolved`)
      await queries.invalidateQueries({ queryKey: ['/admin/disputes'] })
    },
  })
  return (
    <form
      className="stack-small case-end"
      aria-label={`Resolve the dispute about review ${id}`}
      onSubmit={(event) => event.preventDefault()}
    >
      <Field label="Note" help="Why you decide so. A decision cannot be taken back.">
        <FieldControl
          name="note"
          maxLength={1_000}
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
      </Field>
      <div className="row">
        <Button kind="main" isBusy={isPending} onClick={() => mutate(false)}>
          The author is right
        </Button>
        <Button isBusy={isPending} onClick={() => mutate(true)}>
          The buyers are right
        </Button>
      </div>
      <p className="soft small">
        If the author is right, the contradiction counts for nothing and what was held back is paid. If the
        buyers are right, it stands, for ranks and for money.
      </p>
      {error && <ErrorNote error={error} />}
    </form>
  )
}
