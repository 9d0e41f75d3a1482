import type { ReactNode } from 'react'
import type { Session } from '../session/session.ts'
import { ErrorNote } from '../ui/errors.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Hash } from '../ui/values.tsx'
import type { Connected } from './config.ts'
import { useMarketChain } from './market-chain.ts'
import { OtherWallet, WithWallet } from './with-wallet.tsx'

interface Props {
  session: Session
  children: (connected: Connected) => ReactNode
}

/** The wallet of the account that is signed in, on the market's chain; another one is told what to do. */
export function OwnWallet({ session, children }: Props) {
  const { chainId, error } = useMarketChain()
  if (error) return <ErrorNote error={error} />
  if (chainId === undefined) return <Skeleton lines={2} />
  return (
    <WithWallet chainId={chainId} account={session.address}>
      {(connected) =>
        connected.address.toLowerCase() === session.address.toLowerCase() ? (
          children(connected)
        ) : (
          <div className="note">
            <p>
              You are signed in as <Hash value={session.address} />, and your wallet is on{' '}
              <Hash value={connected.address} />. Choose the first account in your wallet, or sign out and
              sign in with the second.
            </p>
            <OtherWallet />
          </div>
        )
      }
    </WithWallet>
  )
}
