import { useQuery } from '@tanstack/react-query'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import type { Session } from '../../../session/session.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { useMarketChain } from '../../../wallet/market-chain.ts'
import { OwnerPage } from '../parts/frame.tsx'
import { Caps } from './caps.tsx'
import { Queue } from './queue.tsx'

export const SpendingPage = () => (
  <OwnerPage title="Spending" lead="How much your agents may spend, and what you want them to buy.">
    {(session) => <Spending session={session} />}
  </OwnerPage>
)

function Spending({ session }: { session: Session }) {
  const { chainId, error } = useMarketChain()
  if (error) return <ErrorNote error={error} />
  if (chainId === undefined) return <Skeleton lines={8} />
  return (
    <>
      <Limits chainId={chainId} />
      <Queue chainId={chainId} session={session} />
    </>
  )
}

/** The route of the caps answers "not found" where none are set; the budget tells that without an error. */
function Limits({ chainId }: { chainId: number }) {
  const api = useApi()
  const query = { params: { query: { chain_id: chainId } } }
  const budget = useQuery(read(api, '/v1/spending-limits/budget', query))
  const hasCaps = budget.data && (budget.data.budget_enforced || budget.data.per_tx_cap_usdc !== null)
  const limit = useQuery({ ...read(api, '/v1/spending-limits', query), enabled: hasCaps === true })
  const error = budget.error ?? (hasCaps ? limit.error : null)
  const isReady = budget.data && (!hasCaps || limit.data)
  return (
    <Section title="Caps">
      <p className="soft">
        Agents that use the market’s tools check the caps before every purchase. They are advice: the chain
        does not enforce them, so keep little in an agent’s wallet.
      </p>
      {error && <ErrorNote error={error} onRetry={() => budget.refetch()} />}
      {!isReady && !error && <Skeleton lines={6} />}
      {isReady && <Caps chainId={chainId} limit={hasCaps ? limit.data : undefined} budget={budget.data} />}
    </Section>
  )
}
