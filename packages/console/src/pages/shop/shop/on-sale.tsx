import { merchantCall } from '@referrer/client/chain'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { merchantOnChain } from '../parts/chain-state.ts'
import { Change } from '../parts/change.tsx'
import { Transaction } from '../parts/transaction.tsx'
import type { OnChain } from '../parts/with-chain.tsx'

/** Closes the shop, or opens it again. */
export function OnSale({ onChain, merchantId }: { onChain: OnChain; merchantId: number }) {
  const { data, error } = useQuery(merchantOnChain(onChain, merchantId))
  const heading = useRef<HTMLHeadingElement>(null)
  // The button that was used goes away.
  const stay = () => heading.current?.focus()
  const call = (isOpen: boolean) =>
    merchantCall(onChain.deployment.contracts.MerchantRegistry, 'setActive', [BigInt(merchantId), isOpen])
  return (
    <section className="card">
      <h3 ref={heading} tabIndex={-1}>
        Open or closed
      </h3>
      {error && <ErrorNote error={error} />}
      {!data && !error && <Skeleton lines={2} />}
      {data?.isSuspended && (
        <p>The people who run this market have suspended the shop. Only they can lift that: ask them why.</p>
      )}
      {data && !data.isSuspended && data.isActive && (
        <>
          <p>The shop is open: agents can buy.</p>
          <Change label="Close the shop …">
            {() => (
              <Transaction
                onChain={onChain}
                label="Close the shop"
                kind="bad"
                call={call(false)}
                done="The shop is closed"
                onDone={stay}
              >
                Nobody can buy anything of this shop from the next block on, and the links of all reviews stop
                working. Sales that are made stay as they are. You can open it again at any time.
              </Transaction>
            )}
          </Change>
        </>
      )}
      {data && !data.isSuspended && !data.isActive && (
        <>
          <p>The shop is closed: nobody can buy.</p>
          <Transaction
            onChain={onChain}
            label="Open the shop"
            call={call(true)}
            done="The shop is open"
            onDone={stay}
          >
            Agents can buy again, and the links of all reviews work again.
          </Transaction>
        </>
      )}
    </section>
  )
}
