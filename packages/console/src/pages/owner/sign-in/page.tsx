import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useApi } from '../../../api/use-api.ts'
import { useSession, useSignOut } from '../../../session/session.ts'
import { signIn } from '../../../session/sign-in.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Card, PageTitle } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Hash } from '../../../ui/values.tsx'
import type { Connected } from '../../../wallet/config.ts'
import { useMarketChain } from '../../../wallet/market-chain.ts'
import { withProblems } from '../../../wallet/problem.ts'
import { OtherWallet, WithWallet } from '../../../wallet/with-wallet.tsx'

const route = getRouteApi('/sign-in')

export function SignInPage() {
  const { to } = route.useSearch()
  const { chainId, error } = useMarketChain()
  const state = useSession()
  return (
    <>
      <PageTitle title="Sign in">
        <p className="lead">
          {to ? 'The page that you asked for shows what belongs to a wallet. ' : ''}Use the wallet that owns
          your agents or your shop. There is no password: you sign a message, which costs nothing.
        </p>
      </PageTitle>
      <div className="sign-in">
        {error ? <ErrorNote error={error} /> : null}
        {state?.session && <SignedIn address={state.session.address} to={to} />}
        {chainId === undefined ? (
          !error && <Skeleton lines={3} />
        ) : (
          <Card>
            <h2>{state?.session ? 'Sign in with another account' : '1. Choose a wallet'}</h2>
            <WithWallet chainId={chainId}>{(connected) => <Sign connected={connected} to={to} />}</WithWallet>
          </Card>
        )}
      </div>
    </>
  )
}

function SignedIn({ address, to = '/me' }: { address: string; to: string | undefined }) {
  const signOut = useSignOut()
  const router = useRouter()
  return (
    <div className="note note-good">
      <p>
        You are signed in as <Hash value={address} />.
      </p>
      <div className="row">
        <Button kind="main" onClick={() => router.history.push(to)}>
          Go on
        </Button>
        <Button onClick={() => signOut()}>Sign out</Button>
      </div>
    </div>
  )
}

function Sign({ connected, to = '/me' }: { connected: Connected; to: string | undefined }) {
  const api = useApi()
  const queries = useQueryClient()
  const router = useRouter()
  const { address, chainId, wallet } = connected
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      withProblems(
        signIn(api, queries, {
          address,
          chainId,
          signMessage: (message) => wallet.signMessage({ message }),
        }),
      ),
    onSuccess: () => router.history.push(to),
  })
  return (
    <div className="stack">
      <p className="row">
        <span>
          Wallet <Hash value={address} />
        </span>
        <OtherWallet />
      </p>
      <h2>2. Sign the message</h2>
      <p>
        Your wallet shows a message that begins with <strong>{location.host}</strong> and names this account.
        It opens a session in this browser. It sends nothing to the chain and allows no payment.
      </p>
      <Button kind="main" isBusy={isPending} onClick={() => mutate()}>
        {isPending ? 'Look at your wallet …' : 'Sign in'}
      </Button>
      {error && <ErrorNote error={error} />}
    </div>
  )
}
