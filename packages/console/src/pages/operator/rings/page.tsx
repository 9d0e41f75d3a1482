import type { AnswerOf } from '@referrer/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { plural } from '../../../format/text.ts'
import { Choices } from '../../../ui/choices.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Empty, Pager } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Moment } from '../../../ui/values.tsx'
import { OperatorPage } from '../parts/frame.tsx'
import { percent, Standing } from '../parts/standing.tsx'
import { RING_STATES } from './states.ts'

const ringsRoute = getRouteApi('/operator/rings')

type Ring = AnswerOf<'/admin/rings', 'get'>['rings'][number]

const TITLES = { open: 'Open', acted: 'Acted on', dismissed: 'Dismissed' }
const LIMIT = 20

export const RingsPage = () => (
  <OperatorPage
    title="Rings"
    lead="Owners who buy and vote mostly among themselves, at shops that are not verified. It is a suspicion: look, then flag their agents or dismiss it. Rings that buy where everybody buys are not found."
  >
    <Rings />
  </OperatorPage>
)

function Rings() {
  const { state, page = 1 } = ringsRoute.useSearch()
  const asked = { params: { query: { state, page, limit: LIMIT } } }
  const { data, error, refetch } = useQuery(read(useApi(), '/admin/rings', asked))
  return (
    <>
      <Choices label="Which rings">
        {RING_STATES.map((each) => (
          <Link
            key={each}
            to="/operator/rings"
            search={{ state: each }}
            aria-current={each === state ? 'page' : undefined}
          >
            {TITLES[each]}
          </Link>
        ))}
      </Choices>
      {error && <ErrorNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Skeleton lines={8} />}
      {data?.rings.length === 0 && (
        <Empty title={state === 'open' ? 'No ring is suspected' : 'None so far'}>
          {state === 'open' && (
            <p>
              They are looked for once a day, while a shop is{' '}
              <Link to="/operator/shops" search={{ state: 'verified' }}>
                verified
              </Link>
              .
            </p>
          )}
        </Empty>
      )}
      {data && data.rings.length > 0 && <RingTable rings={data.rings} />}
      {data && (
        <Pager
          page={page}
          hasMore={data.rings.length === LIMIT}
          before="Larger ones"
          after="Smaller ones"
          to={(to) => ({ to: '/operator/rings', search: { state, page: to } })}
        />
      )}
    </>
  )
}

const RingTable = ({ rings }: { rings: Ring[] }) => (
  <div className="table-frame">
    <table className="stacked">
      <thead>
        <tr>
          <th scope="col">Ring</th>
          <th scope="col">Shops</th>
          <th scope="col" className="amount">
            Votes inside
          </th>
          <th scope="col" className="amount">
            Money inside
          </th>
          <th scope="col" className="amount">
            Standing
          </th>
          <th scope="col">Last vote</th>
        </tr>
      </thead>
      <tbody>
        {rings.map((ring) => (
          <tr key={ring.ring_id}>
            <td data-label="Ring">
              <Link to="/operator/rings/$ringId" params={{ ringId: String(ring.ring_id) }}>
                Ring {ring.ring_id}
              </Link>
              <br />
              <span className="soft small">{plural(ring.members, 'owner')}</span>
            </td>
            <td data-label="Shops">{ring.shops}</td>
            <td className="amount" data-label="Votes inside">
              {percent(ring.votes_inside, ring.votes_all)}
              <br />
              <span className="soft small">of {ring.votes_all.toLocaleString('en')}</span>
            </td>
            <td className="amount" data-label="Money inside">
              {percent(ring.spent_inside_usdc, ring.spent_all_usdc)}
            </td>
            <td className="amount" data-label="Standing">
              <Standing of={ring.standing} />
            </td>
            <td data-label="Last vote">
              <Moment at={ring.last_vote_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
