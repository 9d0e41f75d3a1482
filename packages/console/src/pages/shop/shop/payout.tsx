import { merchantCall } from '@referrer/client/chain'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { isAddressEqual, zeroAddress } from 'viem'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Hash } from '../../../ui/values.tsx'
import { merchantOnChain } from '../parts/chain-state.ts'
import { Change } from '../parts/change.tsx'
import { typedAddress } from '../parts/form-text.ts'
import { Transaction } from '../parts/transaction.tsx'
import { useChecked } from '../parts/use-checked.ts'
import type { OnChain } from '../parts/with-chain.tsx'

interface Props {
  onChain: OnChain
  merchantId: number
}

/** Where the merchant's share of each sale goes. */
export function Payout({ onChain, merchantId }: Props) {
  const { data, error } = useQuery(merchantOnChain(onChain, merchantId))
  return (
    <section className="card">
      <h3>Payout wallet</h3>
      {error && <ErrorNote error={error} />}
      {!data && !error && <Skeleton lines={2} />}
      {data && (
        <>
          <p>
            {data.payout === zeroAddress ? (
              'None yet: it is your wallet from the moment you open the shop.'
            ) : (
              <>
                Your share of every sale goes at once to{' '}
                {isAddressEqual(data.payout, onChain.connected.address) ? 'this wallet' : 'another wallet'}:{' '}
                <Hash value={data.payout} />
              </>
            )}
          </p>
          <Change label="Change the payout wallet">
            {(close) => <PayoutForm onChain={onChain} merchantId={merchantId} onDone={close} />}
          </Change>
        </>
      )}
    </section>
  )
}

function PayoutForm({ onChain, merchantId, onDone }: Props & { onDone: () => void }) {
  const [text, setText] = useState('')
  const { form, told, showErrors } = useChecked()
  const address = typedAddress(text)
  return (
    <form className="form" ref={form} noValidate onSubmit={(event) => event.preventDefault()}>
      <Field
        label="New payout wallet"
        error={told(address.error)}
        help="A wallet that can hold USDC on this chain. Not an exchange, unless it gave you this address for this chain."
      >
        <FieldControl value={text} onChange={(event) => setText(event.target.value)} placeholder="0x…" />
      </Field>
      <Transaction
        onChain={onChain}
        label="Pay sales to this wallet"
        call={
          address.value &&
          merchantCall(onChain.deployment.contracts.MerchantRegistry, 'setPayoutWallet', [
            BigInt(merchantId),
            address.value,
          ])
        }
        onIncomplete={showErrors}
        done="The payout wallet is changed"
        onDone={onDone}
      >
        From the next block on, your share of every sale goes to this wallet. Earlier sales stay where they
        were paid. Check the address: what is paid to a wrong one is lost.
      </Transaction>
    </form>
  )
}
