import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Empty, Pager } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { OperatorPage } from '../parts/frame.tsx'
import { DisputeCase } from './case.tsx'

const disputesRoute = getRouteApi('/operator/disputes')

const LIMIT = 5

export const DisputesPage = () => (
  <OperatorPage
    title="Disputes"
    lead="Buyers’ reviews contradict a review, and its author objects. Until you decide, what is held back for the author stays where it is."
  >
    <Disputes />
  </OperatorPage>
)

function Disputes() {
  const { page = 1 } = disputesRoute.useSearch()
  const asked = { params: { query: { page, limit: LIMIT } } }
  const { data, error, refetch } = useQuery(read(useApi(), '/admin/disputes', asked))
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={12} />
  return (
    <>
      {data.disputes.length === 0 && (
        <Empty title="Nobody disputes anything">
          <p>
            <Link to="/operator/proofs" search={{ status: 'pending' }}>
              Look at the proofs
            </Link>{' '}
            instead.
          </p>
        </Empty>
      )}
      <div className="stack">
        {data.disputes.map(({ internal_id }) => (
          <DisputeCase key={internal_id} id={internal_id} />
        ))}
      </div>
      <Pager
        page={page}
        hasMore={data.disputes.length === LIMIT}
        before="Older ones"
        after="Newer ones"
        to={(to) => ({ to: '/operator/disputes', search: { page: to } })}
      />
    </>
  )
}
