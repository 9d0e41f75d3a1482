import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Address, Hash } from 'viem'
import { Problem } from '../api/problem.ts'
import { full } from '../format/moment.ts'
import { Button } from '../ui/button.tsx'
import { ErrorNote } from '../ui/errors.tsx'
import { Usdc } from '../ui/values.tsx'
import type { Connected } from './config.ts'
import { withProblems } from './problem.ts'
import { contractCallOf, type TakeBackCall } from './take-back.ts'
import { transact } from './transaction.ts'

interface Props {
  connected: Connected
  /** Of the market. */
  router: Address
  call: TakeBackCall
  onDone: () => void
}

/** For a payment whose money lies in the router and is not split. */
export function TakeBackButton({ connected, router, call, onDone }: Props) {
  const [sent, setSent] = useState<Hash | null>(null)
  const checked = contractCallOf(call, { router, payer: connected.address })
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => withProblems(takeBack()),
    onSuccess: onDone,
  })
  async function takeBack(): Promise<void> {
    if (!checked) return
    const { timestamp } = await connected.reads.getBlock()
    if (Number(timestamp) < call.not_before) {
      throw new Problem(
        `It can be taken back from ${full(call.not_before * 1_000)} on`,
        'Until then it may still pay for what it was sent for.',
      )
    }
    await transact(connected, checked.call, { sent, onSent: setSent })
  }
  if (!checked) {
    return (
      <ErrorNote error={new Problem('This money is of another wallet', 'Connect the wallet that paid.')} />
    )
  }
  return (
    <div className="stack">
      <p>
        <Usdc amount={checked.amount} /> of yours lie in the market’s contract, and pay for nothing.
        {call.not_before > 0 && ` You can take them back from ${full(call.not_before * 1_000)} on.`} Your
        wallet sends one transaction, which costs the network’s fee.
      </p>
      <div className="row">
        <Button kind="main" isBusy={isPending} onClick={() => mutate()}>
          Take the money back
        </Button>
      </div>
      {error && <ErrorNote error={error} />}
    </div>
  )
}
