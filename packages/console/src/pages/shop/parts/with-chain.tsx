import { type Deployment, readDeployment } from '@referrer/client/chain'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { rootRoute } from '../../../frame/root.tsx'
import type { Session } from '../../../session/session.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import type { Connected } from '../../../wallet/config.ts'
import { OwnWallet } from '../../../wallet/own-wallet.tsx'
import { withProblems } from '../../../wallet/problem.ts'

/** The owner's wallet, and the market's contracts as the chain names them. */
export interface OnChain {
  connected: Connected
  deployment: Deployment
}

interface Props {
  children: (onChain: OnChain) => ReactNode
}

/** Shows what reads and writes the merchant's contracts, once the wallet of the session is there. */
export const WithChain = ({ session, children }: Props & { session: Session }) => (
  <OwnWallet session={session}>
    {(connected) => <WithDeployment connected={connected}>{children}</WithDeployment>}
  </OwnWallet>
)

function WithDeployment({ connected, children }: Props & { connected: Connected }) {
  const { origin } = rootRoute.useRouteContext()
  const { data, error, refetch } = useQuery({
    queryKey: ['deployment', connected.chainId],
    queryFn: () => withProblems(readDeployment(connected.reads, { marketUrl: origin })),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (data) return children({ connected, deployment: data })
  return error ? <ErrorNote error={error} onRetry={() => refetch()} /> : <Skeleton lines={4} />
}
