import type { AnswerOf } from '@referrer/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { plural } from '../../../format/text.ts'
import type { Session } from '../../../session/session.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { ProductLink, productName } from '../../../ui/links.tsx'
import { Outcome } from '../../../ui/outcome.tsx'
import { Empty, Facts, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { CopyButton, Foreign, Hash, Rank, Usdc } from '../../../ui/values.tsx'
import { Balance } from '../parts/balance.tsx'
import { AgentNav, OwnerPage } from '../parts/frame.tsx'
import { CashbackRate } from './cashback-rate.tsx'

const route = getRouteApi('/me/agent/$agentId')

type Digest = AnswerOf<'/v1/agent/{id}/context', 'get'>

export function AgentPage() {
  const agentId = route.useLoaderData()
  return (
    <OwnerPage title={`Agent ${agentId}`} kicker="My agent">
      {(session) => <Agent agentId={agentId} session={session} />}
    </OwnerPage>
  )
}

function Agent({ agentId, session }: { agentId: number; session: Session }) {
  const { data, error, refetch } = useQuery(
    read(useApi(), '/v1/agent/{id}/context', { params: { path: { id: agentId } } }),
  )
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={12} />
  if (!data.registered) {
    return (
      <Empty title={`This market does not know agent ${agentId}`}>
        <p>
          <Link to="/me">Register it</Link>, if the identity is yours.
        </p>
      </Empty>
    )
  }
  const isOwn = data.identity.owner_address?.toLowerCase() === session.address.toLowerCase()
  return (
    <>
      <AgentNav agentId={agentId} />
      {!isOwn && (
        <div className="note">
          <p>
            Another account owns this agent: you can look, but not act for it. Sign in as{' '}
            <Hash value={data.identity.owner_address ?? ''} /> to act.
          </p>
        </div>
      )}
      <NextSteps digest={data} />
      <Section
        title="Figures"
        aside={
          <Link to="/me/agent/$agentId/earnings" params={{ agentId: String(agentId) }}>
            Earnings by day
          </Link>
        }
      >
        <Figures digest={data} />
      </Section>
      <Section title="Cashback for buyers">
        <CashbackRate
          agentId={agentId}
          bps={data.global_cashback_of_commission_bps}
          session={isOwn ? session : undefined}
        />
      </Section>
      <Section
        title="Newest reviews"
        aside={
          <Link to="/reviewer/$agentId" params={{ agentId: String(agentId) }}>
            All reviews
          </Link>
        }
      >
        <Reviews agentId={agentId} />
      </Section>
    </>
  )
}

function NextSteps({ digest: { agent_id, actionable, counts, hints } }: { digest: Digest }) {
  const { review_backlog: backlog, pending_proofs: proofs } = actionable
  return (
    <Section title="What to do next">
      {backlog.length > 0 && (
        <ul className="list">
          {backlog.map((entry) => (
            <li key={entry.escrow_id} className="row row-apart">
              <span>
                <Foreign text={productName(entry.name)} most={120} />
                <span className="soft small"> · purchase {entry.escrow_id}</span>
              </span>
              <Link to="/me/purchase/$escrowId" params={{ escrowId: String(entry.escrow_id) }}>
                Vote and review
              </Link>
            </li>
          ))}
        </ul>
      )}
      {counts.review_backlog > backlog.length && (
        <p className="soft">
          And {plural(counts.review_backlog - backlog.length, 'more purchase')}:{' '}
          <Link to="/me/purchases" search={{ agent: agent_id }}>
            all purchases of this agent
          </Link>
          .
        </p>
      )}
      {proofs.length > 0 && (
        <p>
          {plural(counts.pending_proofs, 'proof')} waiting for the operator.{' '}
          <Link to="/me/agent/$agentId/proofs" params={{ agentId: String(agent_id) }}>
            See them
          </Link>
          .
        </p>
      )}
      {backlog.length === 0 && (
        <Empty title="Nothing waits for you">
          <ul className="hints">
            {hints.slice(2).map((hint) => (
              <li key={hint}>{hint.replace('ref_link', 'ref link')}</li>
            ))}
          </ul>
        </Empty>
      )}
    </Section>
  )
}

const Figures = ({ digest: { earnings, actionable, counts, identity } }: { digest: Digest }) => (
  <Facts
    facts={[
      ['Earned', <Usdc key="a" amount={earnings.total_earnings} />],
      ['Commission', <Usdc key="b" amount={earnings.commission_realized} />],
      ['Cashback', <Usdc key="c" amount={earnings.cashback_total} />],
      ['Still held', <Usdc key="d" amount={actionable.escrow_pending.total} />],
      ['In its wallet', <Balance key="g" text={earnings.usdc_wallet_balance} />],
      ['Reviews', counts.reviews_authored.toLocaleString('en')],
      ['Votes', counts.votes_cast.toLocaleString('en')],
      ['Rank, repeat goods', <Rank key="e" rank={identity.review_rank_repeat} />],
      ['Rank, one-off goods', <Rank key="f" rank={identity.review_rank_one_off} />],
    ]}
  />
)

const REVIEWS_SHOWN = 10

function Reviews({ agentId }: { agentId: number }) {
  const { data, error, refetch } = useQuery(
    read(useApi(), '/v1/agent/{id}/reviews', {
      params: { path: { id: agentId }, query: { limit: REVIEWS_SHOWN } },
    }),
  )
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={4} />
  if (data.reviews.length === 0) {
    return (
      <Empty title="No review yet">
        <p>After a purchase the agent can review it. Every purchase through its ref link earns commission.</p>
      </Empty>
    )
  }
  return (
    <ul className="list">
      {data.reviews.map((review) => (
        <li key={review.internal_id} className="line">
          <div>
            <p className="row">
              <ProductLink product={{ ...review, name: review.product_name }} most={80} />
              <Outcome outcome={review.comparison_outcome} />
            </p>
            <p className="small soft">
              {plural(review.sales_count, 'sale')}, {plural(review.votes.count, 'vote')}
            </p>
          </div>
          {review.ref_link && (
            <span className="hash small soft">
              Ref link <CopyButton text={review.ref_link} label="Copy the ref link" />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}
