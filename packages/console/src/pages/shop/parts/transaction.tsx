import type { ContractCall } from '@referrer/client/chain'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Hash as TransactionHash, TransactionReceipt } from 'viem'
import { formatEth } from '../../../format/eth.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Code } from '../../../ui/parts.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Hash } from '../../../ui/values.tsx'
import { withProblems } from '../../../wallet/problem.ts'
import { transact } from '../../../wallet/transaction.ts'
import { refreshAfter } from './chain-state.ts'
import { useSettled } from './use-settled.ts'
import type { OnChain } from './with-chain.tsx'

interface Props {
  onChain: OnChain
  /** What the button says. */
  label: string
  kind?: 'main' | 'plain' | 'bad'
  /** Undefined: something is still missing, and `onIncomplete` says what. */
  call: ContractCall | undefined
  onIncomplete?: () => void
  /** What will happen, in plain words. */
  children: ReactNode
  /** What is said when it is done, where the form goes away. */
  done?: string
  onDone?: (receipt: TransactionReceipt) => void
}

/** A call of a contract: what it does and costs before it is sent, then its way into a block. */
export function Transaction({
  onChain,
  label,
  kind = 'main',
  call,
  onIncomplete,
  children,
  done,
  onDone,
}: Props) {
  const { connected } = onChain
  const queries = useQueryClient()
  /** The last one that was sent, and for which call: one whose end is not known is looked for before another is sent. */
  const [sent, setSent] = useState<{ hash: TransactionHash; key: string | undefined; isOpen: boolean }>()
  const hash = sent?.hash
  // While somebody types, the node is not asked for every letter.
  const key = call && `${call.functionName} ${call.args.join(' ')}`
  const isSettled = useSettled(key) === key
  const cost = useQuery(costOf(onChain, isSettled ? call : undefined, key))
  const sending = useMutation({
    mutationFn: (wanted: ContractCall) =>
      withProblems(
        transact(connected, wanted, {
          sent: sent?.isOpen && sent.key === key ? sent.hash : undefined,
          onSent: (hash) => setSent(hash ? { hash, key, isOpen: true } : undefined),
        }),
      ),
    onSuccess: (receipt) => {
      setSent({ hash: receipt.transactionHash, key, isOpen: false })
      refreshAfter(queries)
      if (done) announce(done)
      onDone?.(receipt)
    },
  })
  const isShort = cost.data !== undefined && cost.data.balance < cost.data.wei
  function start() {
    if (!call) return onIncomplete?.()
    if (!sent?.isOpen) setSent(undefined)
    sending.mutate(call)
  }
  return (
    <div className="transaction">
      <div className="small">{children}</div>
      {call && (
        <p className="small soft">
          Sends <code>{call.functionName}</code>
          {cost.data && ` for about ${formatEth(cost.data.wei)} ETH of network fee`} from{' '}
          <Hash value={connected.address} />
        </p>
      )}
      {isShort && <NoGas onChain={onChain} balance={cost.data.balance} />}
      {cost.error && !sending.isPending && !sending.isSuccess && <ErrorNote error={cost.error} />}
      <div className="row">
        <Button kind={kind} isBusy={sending.isPending} onClick={start}>
          {label}
        </Button>
        <p role="status" className="small">
          {sending.isPending && !hash && 'Confirm it in your wallet.'}
          {sending.isPending && hash && (
            <>
              Sent: <Hash value={hash} label="transaction" />. Waiting for the next block.
            </>
          )}
          {sending.isSuccess && hash && (
            <>
              Done: <Hash value={hash} label="transaction" />
            </>
          )}
        </p>
      </div>
      {sending.error && <ErrorNote error={sending.error} />}
    </div>
  )
}

const costOf = (
  { connected: { address, chainId, reads } }: OnChain,
  call: ContractCall | undefined,
  key: string | undefined,
) => ({
  queryKey: ['network fee', chainId, address, key],
  queryFn: () =>
    withProblems(
      (async () => {
        const estimated = { ...call, account: address } as Parameters<typeof reads.estimateContractGas>[0]
        const [gas, price, balance] = await Promise.all([
          reads.estimateContractGas(estimated),
          reads.getGasPrice(),
          reads.getBalance({ address }),
        ])
        return { wei: gas * price, balance }
      })(),
    ),
  enabled: call !== undefined,
  retry: false,
})

const NoGas = ({ onChain: { connected, deployment }, balance }: { onChain: OnChain; balance: bigint }) => (
  <div className="note">
    <p>
      Your wallet has {formatEth(balance)} ETH, which is too little for the network fee. Send some ETH on
      chain {connected.chainId} to it first.
    </p>
    {deployment.faucetUrl && (
      <Code
        label="command that asks the sandbox for some"
        text={`curl -X POST ${deployment.faucetUrl} -H 'content-type: application/json' -d '${JSON.stringify({ address: connected.address })}'`}
      />
    )}
  </div>
)
