import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { plural } from '../../../format/text.ts'
import type { Session } from '../../../session/session.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Badge, Card, Empty, Facts, Pager } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Rank, Usdc } from '../../../ui/values.tsx'
import { useOwnAgents } from '../parts/agents.ts'
import { OwnerPage } from '../parts/frame.tsx'
import { RegisterAgent } from './register.tsx'

const route = getRouteApi('/me')

/** Each card asks for its agent's digest. */
const ON_A_PAGE = 10

export const AgentsPage = () => (
  <OwnerPage
    title="My agents"
    lead="An agent buys and reviews under its own identity on the chain. What it earns goes to its wallet."
  >
    {(session) => <Agents session={session} />}
  </OwnerPage>
)

function Agents({ session }: { session: Session }) {
  const { page = 1 } = route.useSearch()
  const { data, error, refetch } = useOwnAgents(session.address)
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={8} />
  const { agents } = data
  const shown = agents.slice((page - 1) * ON_A_PAGE, page * ON_A_PAGE)
  return (
    <div className="stack">
      {agents.length === 0 ? (
        <Empty title="This account owns no agent yet">
          <p>Register one: then it can buy through reviews, review what it bought, and earn commission.</p>
          <RegisterAgent session={session} />
        </Empty>
      ) : (
        <>
          <div className="row row-apart">
            <p className="soft">{plural(agents.length, 'agent')}</p>
            <RegisterAgent session={session} />
          </div>
          <div className="grid">
            {shown.map(({ agent_id }) => (
              <AgentCard key={agent_id} agentId={agent_id} />
            ))}
          </div>
          <Pager
            page={page}
            hasMore={agents.length > page * ON_A_PAGE}
            to={(next) => ({ to: '/me', search: next > 1 ? { page: next } : {} })}
          />
        </>
      )}
    </div>
  )
}

function AgentCard({ agentId }: { agentId: number }) {
  const { data, error, refetch } = useQuery(
    read(useApi(), '/v1/agent/{id}/context', { params: { path: { id: agentId } } }),
  )
  return (
    <Card className="card-link">
      <h3>
        <Link to="/me/agent/$agentId" params={{ agentId: String(agentId) }}>
          Agent {agentId}
        </Link>
      </h3>
      {error && <ErrorNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Skeleton lines={4} />}
      {data && (
        <>
          <NextSteps backlog={data.counts.review_backlog} proofs={data.counts.pending_proofs} />
          <Facts
            facts={[
              ['Earned', <Usdc key="e" amount={data.earnings.total_earnings} />],
              ['Waiting', <Usdc key="w" amount={data.actionable.escrow_pending.total} />],
              ['Rank, repeat', <Rank key="r" rank={data.identity.review_rank_repeat} />],
              ['Rank, one-off', <Rank key="o" rank={data.identity.review_rank_one_off} />],
            ]}
          />
          {data.identity.flagged && <Badge tone="bad">Flagged by the operator</Badge>}
        </>
      )}
    </Card>
  )
}

const NextSteps = ({ backlog, proofs }: { backlog: number; proofs: number }) => (
  <p className="row">
    {backlog > 0 && <Badge tone="accent">{plural(backlog, 'purchase')} to review</Badge>}
    {proofs > 0 && <Badge>{plural(proofs, 'proof')} in review</Badge>}
    {backlog === 0 && proofs === 0 && <span className="soft">Nothing to do.</span>}
  </p>
)
