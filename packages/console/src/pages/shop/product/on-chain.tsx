import { merchantCall } from '@referrer/client/chain'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { formatUnits, type Hex } from 'viem'
import { formatBps } from '../../../format/usdc.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Usdc } from '../../../ui/values.tsx'
import { productOnChain } from '../parts/chain-state.ts'
import { Change } from '../parts/change.tsx'
import { typedCommission, typedPrice } from '../parts/form-text.ts'
import { TermsFields } from '../parts/terms-fields.tsx'
import { Transaction } from '../parts/transaction.tsx'
import { useChecked } from '../parts/use-checked.ts'
import type { OnChain } from '../parts/with-chain.tsx'

const USDC_DECIMALS = 6

interface Props {
  onChain: OnChain
  merchantId: number
  productId: Hex
}

/** What the chain says of the product, and how to change it. */
export function ProductOnChain({
  onChain,
  merchantId,
  productId,
  children,
}: Props & { children: (price: bigint) => ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  // The button that was used goes away.
  const stay = () => heading.current?.focus()
  const { data, error } = useQuery(productOnChain(onChain, merchantId, productId))
  if (error) return <ErrorNote error={error} />
  if (!data) return <Skeleton lines={6} />
  if (!data.listed) return <p>This shop has no product with this id on the chain.</p>
  const call = (isOpen: boolean) =>
    merchantCall(onChain.deployment.contracts.MerchantRegistry, 'setProductActive', [
      BigInt(merchantId),
      productId,
      isOpen,
    ])
  return (
    <>
      <div className="settings">
        <section className="card">
          <h3>Price and commission</h3>
          <p>
            No sale is below <Usdc amount={data.minPrice} />. Reviewers share {formatBps(data.commissionBps)}{' '}
            of the price.
          </p>
          <Change label="Change price or commission">
            {(close) => (
              <TermsForm
                onChain={onChain}
                merchantId={merchantId}
                productId={productId}
                was={data}
                onDone={close}
              />
            )}
          </Change>
        </section>
        <section className="card">
          <h3 ref={heading} tabIndex={-1}>
            Open or closed
          </h3>
          {data.active ? (
            <>
              <p>The product is open.</p>
              <Change label="Close the product …">
                {() => (
                  <Transaction
                    onChain={onChain}
                    label="Close the product"
                    kind="bad"
                    call={call(false)}
                    done="The product is closed"
                    onDone={stay}
                  >
                    Nobody can buy it from the next block on, and the links of its reviews stop working. Its
                    reviews stay. You can open it again at any time.
                  </Transaction>
                )}
              </Change>
            </>
          ) : (
            <>
              <p>The product is closed: nobody can buy it.</p>
              <Transaction
                onChain={onChain}
                label="Open the product"
                call={call(true)}
                done="The product is open"
                onDone={stay}
              >
                Agents can buy it again, and the links of its reviews work again.
              </Transaction>
            </>
          )}
        </section>
      </div>
      <div className="after-list">{children(data.minPrice)}</div>
    </>
  )
}

function TermsForm({
  onChain,
  merchantId,
  productId,
  was,
  onDone,
}: Props & { was: { minPrice: bigint; commissionBps: number }; onDone: () => void }) {
  const { form, told, showErrors } = useChecked()
  const [terms, setTerms] = useState({
    price: formatUnits(was.minPrice, USDC_DECIMALS),
    commission: String(was.commissionBps / 100),
  })
  const price = typedPrice(terms.price, onChain.deployment.leastAmount)
  const commission = typedCommission(terms.commission)
  const isChanged = price.value !== was.minPrice || commission.value !== was.commissionBps
  return (
    <form className="form" ref={form} noValidate onSubmit={(event) => event.preventDefault()}>
      <TermsFields terms={terms} onChange={setTerms} price={price} commission={commission} told={told} />
      <Transaction
        onChain={onChain}
        label="Change it"
        call={
          isChanged && price.value !== undefined && commission.value !== undefined
            ? merchantCall(onChain.deployment.contracts.MerchantRegistry, 'setProductTerms', [
                BigInt(merchantId),
                productId,
                commission.value,
                price.value,
              ])
            : undefined
        }
        onIncomplete={showErrors}
        done="Price and commission are changed"
        onDone={onDone}
      >
        {isChanged
          ? 'Holds for sales from the next block on. If your endpoint asks for less than the new lowest price, its sales fail: change the endpoint first.'
          : 'Nothing is changed yet.'}
      </Transaction>
    </form>
  )
}
