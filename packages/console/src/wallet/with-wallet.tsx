// Import this lazily from public pages: wallets are most of a page's code.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import type { EIP1193Provider } from 'viem'
import {
  type Config,
  useConnect,
  useConnection,
  useConnectors,
  useDisconnect,
  useSwitchChain,
  WagmiContext,
} from 'wagmi'
import { reconnect } from 'wagmi/actions'
import { useSession } from '../session/session.ts'
import { Button } from '../ui/button.tsx'
import { ErrorNote } from '../ui/errors.tsx'
import { Empty } from '../ui/parts.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Hash } from '../ui/values.tsx'
import { type Connected, chainOf, configOf, connectedOf } from './config.ts'
import { problemOf } from './problem.ts'

interface Props {
  /** The chain that the wallet has to be on. */
  chainId: number
  /** The account that is needed; unset: any. */
  account?: string
  children: (connected: Connected) => ReactNode
}

/** Addresses of the sandbox's wallets, by connector. */
type Addresses = ReadonlyMap<string, string>

interface Wallets {
  config: Config
  addresses: Addresses
}

const prepared = new Map<number, Promise<Wallets>>()
let announced: Promise<Addresses> | undefined

/** Once, whatever the chain: each announcement adds wallets. */
const sandboxWallets = () =>
  (announced ??= import('./sandbox.ts').then(({ announceSandboxWallets }) => announceSandboxWallets()))

/** Finds the wallet of the last visit, once. wagmi's own provider would do it while it renders, and whenever a page shows another one. */
function prepare(chainId: number, isSandbox: boolean): Promise<Wallets> {
  const known = prepared.get(chainId)
  if (known) return known
  const made = (async () => {
    const addresses = isSandbox ? await sandboxWallets() : new Map()
    const config = configOf(chainId)
    await reconnect(config)
    return { config, addresses }
  })()
  prepared.set(chainId, made)
  made.catch(() => prepared.delete(chainId))
  return made
}

/** Shows what needs a wallet; until one is connected and on the right chain, the choice of wallets. */
export function WithWallet(props: Props) {
  const isSandbox = useSession()?.isSandbox
  const { data: wallets, isPending } = useQuery({
    queryKey: ['wallets', props.chainId],
    queryFn: () => prepare(props.chainId, isSandbox === true),
    enabled: isSandbox !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (isPending || !wallets) return <Skeleton lines={2} />
  return (
    <WagmiContext value={wallets.config}>
      <Gate {...props} addresses={wallets.addresses} />
    </WagmiContext>
  )
}

function Gate({ chainId, account, addresses, children }: Props & { addresses: Addresses }) {
  const { address, connector, chainId: current, isReconnecting } = useConnection()
  const [provider, setProvider] = useState<EIP1193Provider>()
  const { mutate: switchChain, error, isPending } = useSwitchChain()
  useEffect(() => {
    setProvider(undefined)
    connector?.getProvider?.().then((given) => setProvider(given as EIP1193Provider))
  }, [connector])
  // wagmi connects again whenever it is rendered: what is shown for the wallet stays meanwhile.
  if (address ? !provider : isReconnecting) return <Skeleton lines={2} />
  if (!address || !provider) return <Choice account={account} addresses={addresses} />
  if (current !== chainId) {
    return (
      <div className="note">
        <p>
          Your wallet is on chain {current}; this market works on {chainOf(chainId).name}
          {chainOf(chainId).name.endsWith(String(chainId)) ? '' : ` (chain ${chainId})`}.
        </p>
        <div className="row">
          <Button kind="main" isBusy={isPending} onClick={() => switchChain({ chainId })}>
            Switch to {chainOf(chainId).name}
          </Button>
          <OtherWallet />
        </div>
        {error && <ErrorNote error={problemOf(error)} />}
      </div>
    )
  }
  return children(connectedOf(address, chainId, provider))
}

/** Lets go of the wallet, so that another can be chosen. */
export function OtherWallet() {
  const { mutate, isPending } = useDisconnect()
  return (
    <Button kind="quiet" isBusy={isPending} onClick={() => mutate({})}>
      Use another wallet
    </Button>
  )
}

/** Which wallet is in use, and the way to another. */
export const WalletLine = ({ address }: { address: string }) => (
  <p className="row small soft">
    <span>
      Wallet <Hash value={address} />
    </span>
    <OtherWallet />
  </p>
)

const isAnnounced = (connector: { id: string }) => connector.id !== 'injected'

/** A sandbox can have fifty accounts. */
const FIRST_SHOWN = 12

function Choice({ account, addresses }: { account: string | undefined; addresses: Addresses }) {
  const connectors = useConnectors()
  const { mutate: connect, error, isPending, variables } = useConnect()
  const announced = connectors.filter(isAnnounced)
  // Old wallets announce nothing; new ones do both.
  const offered = announced.length > 0 || !('ethereum' in globalThis) ? announced : connectors
  if (offered.length === 0) {
    return (
      <Empty title="No wallet in this browser">
        <p>Install a wallet extension, such as MetaMask or Rabby, then reload this page.</p>
      </Empty>
    )
  }
  const isWanted = ({ id }: { id: string }) =>
    account !== undefined && addresses.get(id)?.toLowerCase() === account.toLowerCase()
  const own = offered.filter(({ id }) => !addresses.has(id))
  const play = offered
    .filter(({ id }) => addresses.has(id))
    .toSorted((one, other) => Number(isWanted(other)) - Number(isWanted(one)))
  const buttons = (list: typeof offered) => (
    <div className="row wallets">
      {list.map((connector) => (
        <Button
          key={connector.uid}
          isBusy={isPending && variables?.connector === connector}
          onClick={() => connect({ connector })}
        >
          {connector.icon?.startsWith('data:image/') && (
            <img src={connector.icon.trim()} alt="" width="20" height="20" />
          )}
          {connector.name}
        </Button>
      ))}
    </div>
  )
  return (
    <div className="stack">
      {account !== undefined && (
        <p>
          Choose the wallet with <Hash value={account} />, the account that you are signed in with.
        </p>
      )}
      {own.length > 0 && buttons(own)}
      {play.length > 0 && (
        <>
          <p className="small soft">
            This is a sandbox: these accounts hold play money, and everybody can use them.
          </p>
          {buttons(play.slice(0, FIRST_SHOWN))}
          {play.length > FIRST_SHOWN && (
            <details>
              <summary>{play.length - FIRST_SHOWN} more accounts</summary>
              {buttons(play.slice(FIRST_SHOWN))}
            </details>
          )}
        </>
      )}
      {error && <ErrorNote error={problemOf(error)} />}
    </div>
  )
}
