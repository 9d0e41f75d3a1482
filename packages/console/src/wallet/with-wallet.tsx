// Import this lazily from public pages: wallets are most of a page's code.
import { type ReactNode, useEffect, useState } from 'react'
import type { EIP1193Provider } from 'viem'
import { useAccount, useConnect, useConnectors, useSwitchChain, WagmiProvider } from 'wagmi'
import { Button } from '../ui/button.tsx'
import { ErrorNote } from '../ui/errors.tsx'
import { Empty } from '../ui/parts.tsx'
import { type Connected, config, connectedOf } from './config.ts'

interface Props {
  /** The chain that the wallet has to be on. */
  chainId: number
  children: (connected: Connected) => ReactNode
}

/** Shows what needs a wallet; until one is connected and on the right chain, the choice of wallets. */
export const WithWallet = (props: Props) => (
  <WagmiProvider config={config}>
    <Gate {...props} />
  </WagmiProvider>
)

function Gate({ chainId, children }: Props) {
  const { address, connector, chainId: current } = useAccount()
  const [provider, setProvider] = useState<EIP1193Provider>()
  const { switchChain, error, isPending } = useSwitchChain()
  useEffect(() => {
    setProvider(undefined)
    connector?.getProvider().then((given) => setProvider(given as EIP1193Provider))
  }, [connector])
  if (!address || !provider) return <Wallets />
  if (current !== chainId) {
    return (
      <div className="note">
        <p>
          Your wallet is on chain {current}; this market works on chain {chainId}.
        </p>
        <Button kind="main" isBusy={isPending} onClick={() => switchChain({ chainId: chainId as 31337 })}>
          Switch to chain {chainId}
        </Button>
        {error && <ErrorNote error={error} />}
      </div>
    )
  }
  return children(connectedOf(address, chainId, provider))
}

function Wallets() {
  const connectors = useConnectors()
  const { connect, error, isPending } = useConnect()
  if (connectors.length === 0) {
    return (
      <Empty title="No wallet in this browser">
        <p>Install a wallet extension, such as MetaMask or Rabby, then reload this page.</p>
      </Empty>
    )
  }
  return (
    <div className="stack">
      <div className="row">
        {connectors.map((connector) => (
          <Button key={connector.uid} isBusy={isPending} onClick={() => connect({ connector })}>
            {connector.name}
          </Button>
        ))}
      </div>
      {error && <ErrorNote error={error} />}
    </div>
  )
}
