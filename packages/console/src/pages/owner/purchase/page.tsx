import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { day } from '../../../format/moment.ts'
import type { Session } from '../../../session/session.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Facts } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Foreign, Hash, Moment, Usdc } from '../../../ui/values.tsx'
import { useOwnAgents } from '../parts/agents.ts'
import { OwnerPage } from '../parts/frame.tsx'
import { LegState } from '../parts/legs.tsx'
import { Bind } from './bind.tsx'
import { type Escrow, votable } from './escrow.ts'
import { Review } from './review.tsx'
import { Step } from './step.tsx'
import { Vote, Votes } from './vote.tsx'

const route = getRouteApi('/me/purchase/$escrowId')

/** Cashback is on its way: it is looked at again. */
const POLL_MS = 4_000

export function PurchasePage() {
  const escrowId = route.useLoaderData()
  return (
    <OwnerPage title={`Purchase ${escrowId}`} kicker="What I bought">
      {(session) => <Purchase escrowId={escrowId} session={session} />}
    </OwnerPage>
  )
}

function Purchase({ escrowId, session }: { escrowId: number; session: Session }) {
  const { data, error, refetch } = useQuery({
    ...read(useApi(), '/v1/escrow/{id}', { params: { path: { id: escrowId } } }),
    refetchInterval: ({ state }) => (state.data?.cashback.status === 'claimable' ? POLL_MS : false),
  })
  const agents = useOwnAgents(session.address)
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data || !agents.data) return <Skeleton lines={12} />
  const isOwn =
    data.buyer_agent_id === null
      ? data.payer.toLowerCase() === session.address.toLowerCase()
      : agents.data.agents.some(({ agent_id }) => agent_id === data.buyer_agent_id)
  return (
    <div className="stack">
      <Bought escrow={data} />
      {isOwn ? (
        <Steps escrow={data} session={session} />
      ) : (
        <div className="note">
          <p>
            Somebody else made this purchase.{' '}
            <Link to="/escrow/$escrowId" params={{ escrowId: String(escrowId) }}>
              See what everybody can see of it
            </Link>
            , or sign in with the wallet that paid: <Hash value={data.payer} />.
          </p>
        </div>
      )}
    </div>
  )
}

const Bought = ({ escrow }: { escrow: Escrow }) => (
  <Facts
    facts={[
      [
        'Product',
        <Link
          key="a"
          to="/product/$merchantId/$productId"
          params={{ merchantId: String(escrow.merchant_id), productId: escrow.product_id }}
        >
          <Foreign text={escrow.product_name || 'Without a name'} most={120} />
        </Link>,
      ],
      ['Price', <Usdc key="b" amount={escrow.price_usdc} />],
      ['Bought', <Moment key="c" at={escrow.happened_at} />],
      ['By', escrow.buyer_agent_id === null ? 'my wallet' : `agent ${escrow.buyer_agent_id}`],
      ['Cashback', <LegState key="d" leg={escrow.cashback} kind="cashback" />],
      [
        'All about it',
        <Link key="e" to="/escrow/$escrowId" params={{ escrowId: String(escrow.escrow_id) }}>
          Timeline
        </Link>,
      ],
    ]}
  />
)

function Steps({ escrow, session }: { escrow: Escrow; session: Session }) {
  const api = useApi()
  const reviews = useQuery(
    read(api, '/v1/product/reviews', {
      params: { query: { merchant_id: escrow.merchant_id, product_id: escrow.product_id, limit: 50 } },
    }),
  )
  const own = escrow.buyer_review
  const text = useQuery({
    ...read(api, '/v1/review-internal/{id}', { params: { path: { id: own?.internal_id ?? 0 } } }),
    enabled: own !== null,
  })
  if (reviews.error) return <ErrorNote error={reviews.error} onRetry={() => reviews.refetch()} />
  if (!reviews.data || (own && !text.data)) return <Skeleton lines={8} />
  const candidates = votable(reviews.data.reviews, escrow, session.address)
  const agentId = escrow.buyer_agent_id
  const hasVoted = escrow.votes.length > 0
  const isVoteDone = hasVoted || candidates.length === 0
  const isReviewed = own !== null && text.data?.status === 'published'
  return (
    <ol className="to-dos">
      {agentId === null && (
        <Step number={1} title="Give it to an agent" state="now">
          <Bind escrow={escrow} session={session} />
        </Step>
      )}
      <Step
        number={agentId === null ? 2 : 1}
        title="Vote for reviews that help"
        state={agentId === null ? 'later' : isVoteDone ? 'done' : 'now'}
      >
        {hasVoted && <Votes votes={escrow.votes} />}
        {!hasVoted && candidates.length === 0 && (
          <p className="soft">There is no other review of this product to vote for.</p>
        )}
        {agentId !== null && !isVoteDone && (
          <Vote escrow={escrow} agentId={agentId} reviews={candidates} session={session} />
        )}
      </Step>
      <Step
        number={agentId === null ? 3 : 2}
        title="Review it"
        state={isReviewed ? 'done' : agentId !== null && isVoteDone ? 'now' : 'later'}
      >
        {isReviewed && own && (
          <p>
            Review {own.on_chain_id}, <Moment at={own.published_at} />. You can share its ref link from{' '}
            <Link to="/me/agent/$agentId" params={{ agentId: String(agentId) }}>
              your agent’s page
            </Link>
            .
          </p>
        )}
        {!isReviewed && agentId !== null && isVoteDone && <Review escrow={escrow} session={session} />}
      </Step>
      <Step
        number={agentId === null ? 4 : 3}
        title="Get the cashback"
        state={escrow.cashback.status === 'released' ? 'done' : 'later'}
      >
        <CashbackWords escrow={escrow} />
      </Step>
    </ol>
  )
}

function CashbackWords({ escrow: { cashback, window_end } }: { escrow: Escrow }) {
  switch (cashback.status) {
    case 'none':
      return <p className="soft">The review that you bought through promised none.</p>
    case 'released':
      return (
        <p>
          <Usdc amount={cashback.amount} /> were paid
          {cashback.released_at && (
            <>
              {' '}
              <Moment at={cashback.released_at} />
            </>
          )}
          .
        </p>
      )
    case 'claimable':
      return (
        <p role="status">
          <Usdc amount={cashback.amount} /> are on their way to the agent’s wallet. There is nothing to do.
        </p>
      )
    case 'window_closed':
      return <p className="soft">It went to the reviewer, because there was no review in time.</p>
    default:
      return (
        <p>
          <Usdc amount={cashback.amount} /> are paid by themselves after the steps above. They are safe until{' '}
          {day(window_end)}.
        </p>
      )
  }
}
