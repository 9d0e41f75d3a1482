import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { AgentLink, ReviewLink } from '../../../ui/links.tsx'
import { Pager } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Foreign, Moment } from '../../../ui/values.tsx'

const ringRoute = getRouteApi('/operator/rings/$ringId')

const LIMIT = 10
const MOST_REASON = 300

export function Votes({ ringId }: { ringId: number }) {
  const { page = 1 } = ringRoute.useSearch()
  const asked = { params: { path: { ring_id: ringId }, query: { page, limit: LIMIT } } }
  const { data, error, refetch } = useQuery(read(useApi(), '/admin/rings/{ring_id}/votes', asked))
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={6} />
  return (
    <>
      {data.votes.length === 0 && <p className="soft">The agents that cast them have other owners now.</p>}
      <ul className="list">
        {data.votes.map((vote) => (
          <li key={`${vote.cast_at} ${vote.voter_agent_id} ${vote.internal_id}`} className="stack-small">
            <p>
              <AgentLink id={vote.voter_agent_id} isFirst /> for{' '}
              <ReviewLink id={vote.internal_id}>review {vote.internal_id}</ReviewLink> of{' '}
              <AgentLink id={vote.author_agent_id} /> at{' '}
              <Link to="/merchant/$merchantId" params={{ merchantId: String(vote.merchant_id) }}>
                shop {vote.merchant_id}
              </Link>
              , <Moment at={vote.cast_at} />
            </p>
            <p className="soft small">
              <Foreign text={vote.reasoning} most={MOST_REASON} />
            </p>
          </li>
        ))}
      </ul>
      <Pager
        page={page}
        hasMore={data.votes.length === LIMIT}
        label="Pages of votes"
        to={(to) => ({
          to: '/operator/rings/$ringId',
          params: { ringId: String(ringId) },
          search: { page: to },
        })}
      />
    </>
  )
}
