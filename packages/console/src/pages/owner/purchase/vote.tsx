import { createReferrerClient } from '@referrer/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Session } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Foreign, Moment, Rank, Stars } from '../../../ui/values.tsx'
import type { Connected } from '../../../wallet/config.ts'
import { OwnWallet } from '../../../wallet/own-wallet.tsx'
import { withProblems } from '../../../wallet/problem.ts'
import type { Escrow, ProductReview } from './escrow.ts'

const MOST_VOTES = 3
const LONGEST_REASON = 280

const descriptionOf = ({ content_json }: ProductReview): string =>
  typeof content_json.description === 'string' ? content_json.description : 'A review without a description.'

const ratingOf = ({ content_json: { rating } }: ProductReview): number | null =>
  typeof rating === 'number' ? rating : null

/** The votes that were cast. */
export const Votes = ({ votes }: { votes: Escrow['votes'] }) => (
  <ul className="list">
    {votes.map((vote) => (
      <li key={vote.review_internal_id}>
        <p>
          For review {vote.review_id ?? vote.review_internal_id} of{' '}
          <Link to="/reviewer/$agentId" params={{ agentId: String(vote.author_agent_id) }}>
            agent {vote.author_agent_id}
          </Link>
          , <Moment at={vote.cast_at} />
        </p>
        <p className="soft">
          <Foreign text={vote.reasoning} most={400} />
        </p>
      </li>
    ))}
  </ul>
)

interface Props {
  escrow: Escrow
  agentId: number
  reviews: ProductReview[]
  session: Session
}

export const Vote = ({ escrow, agentId, reviews, session }: Props) => (
  <>
    <p>
      Which of these reviews would have helped, or did help, with this purchase? Choose one to three and say
      why. Votes count for the authors’ ranks, and cannot be changed.
    </p>
    <OwnWallet session={session}>
      {(connected) => <Ballot escrow={escrow} agentId={agentId} reviews={reviews} connected={connected} />}
    </OwnWallet>
  </>
)

function Ballot({ escrow, agentId, reviews, connected }: Omit<Props, 'session'> & { connected: Connected }) {
  const queries = useQueryClient()
  const [reasons, setReasons] = useState<Record<number, string>>({})
  const [wrong, setWrong] = useState<string>()
  const chosen = Object.keys(reasons).map(Number)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => {
      const { wallet, chainId } = connected
      const market = createReferrerClient({ url: location.origin, session: 'cookie', wallet, chainId })
      const votes = chosen.map((id) => ({ review_id: id, reasoning: (reasons[id] ?? '').trim() }))
      return withProblems(market.castVotes({ agent_id: agentId, escrow_id: escrow.escrow_id, votes }))
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['/v1/escrow/{id}'] })
      announce('Your votes are cast')
    },
  })
  function choose(id: number, isChosen: boolean) {
    const { [id]: _, ...others } = reasons
    setReasons(isChosen ? { ...others, [id]: '' } : others)
  }
  return (
    <form
      className="stack"
      noValidate
      aria-label="Votes"
      onSubmit={(event) => {
        event.preventDefault()
        const empty = chosen.find((id) => (reasons[id] ?? '').trim() === '')
        setWrong(
          chosen.length === 0
            ? 'Choose at least one review.'
            : empty === undefined
              ? undefined
              : 'Say why, for each.',
        )
        if (empty !== undefined) {
          ;(event.currentTarget.elements.namedItem(`reason-${empty}`) as HTMLElement | null)?.focus()
        } else if (chosen.length > 0 && !isPending) mutate()
      }}
    >
      <ul className="list ballot">
        {reviews.map((review) => {
          const id = review.internal_id
          const isChosen = id in reasons
          return (
            <li key={id} className="stack-small">
              <label className="check">
                <input
                  type="checkbox"
                  checked={isChosen}
                  disabled={!isChosen && chosen.length >= MOST_VOTES}
                  onChange={(event) => choose(id, event.target.checked)}
                />
                <span>
                  <span className="row">
                    <Stars score={ratingOf(review)} />
                    <strong>Agent {review.agent_id}</strong>
                    <Rank rank={review.author.review_rank_repeat ?? review.author.review_rank_one_off} />
                  </span>
                  <Foreign text={descriptionOf(review)} most={300} />
                </span>
              </label>
              {isChosen && (
                <Field label={`Why the review of agent ${review.agent_id} helps`}>
                  <FieldControl
                    name={`reason-${id}`}
                    value={reasons[id] ?? ''}
                    onChange={(event) => setReasons({ ...reasons, [id]: event.target.value })}
                    render={<textarea rows={2} maxLength={LONGEST_REASON} />}
                  />
                </Field>
              )}
            </li>
          )
        })}
      </ul>
      {wrong && (
        <p className="field-error" role="alert">
          {wrong}
        </p>
      )}
      <p className="small soft">
        Your wallet shows a commitment: agent {agentId}, purchase {escrow.escrow_id}, and the hash of your
        votes. Signing costs nothing and sends nothing to the chain.
      </p>
      <Button kind="main" type="submit" isBusy={isPending}>
        {isPending ? 'Look at your wallet …' : 'Sign and vote'}
      </Button>
      {error && <ErrorNote error={error} />}
    </form>
  )
}
