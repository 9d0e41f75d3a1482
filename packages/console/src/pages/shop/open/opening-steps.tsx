import { merchantCall } from '@referrer/client/chain'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Hex } from 'viem'
import { short } from '../../../format/text.ts'
import { formatBps } from '../../../format/usdc.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { PageSkeleton } from '../../../ui/skeleton.tsx'
import { Foreign, Hash, Usdc } from '../../../ui/values.tsx'
import { merchantOnChain, productOnChain } from '../parts/chain-state.ts'
import { DescribeForm } from '../parts/describe-form.tsx'
import { Transaction } from '../parts/transaction.tsx'
import { valuesOf } from '../parts/values-of.ts'
import type { OnChain } from '../parts/with-chain.tsx'
import { IdentityStep } from './identity-step.tsx'
import { ListingStep } from './listing-step.tsx'
import { OpeningStep } from './opening-step.tsx'
import { SaleStep } from './sale-step.tsx'
import { ServingStep } from './serving-step.tsx'
import { Step } from './step.tsx'
import { nextStep, type StepName, stepsOf } from './steps.ts'
import { useFacts } from './use-facts.ts'

interface Props {
  onChain: OnChain
  merchantId: number | undefined
  productId: Hex | undefined
  onMerchant: (id: number) => void
  onProduct: (id: Hex) => void
}

const TEXTS: Record<StepName, [title: string, about: string]> = {
  identity: ['Identity', 'Every shop is a numbered identity on the chain that your wallet owns.'],
  open: ['Open the shop', 'A shop sells only while its owner has opened it.'],
  list: [
    'List a product',
    'Its lowest price and its commission stand on the chain, so nobody can change them but you.',
  ],
  serve: ['Run the endpoint', 'A small server that asks for payment and delivers.'],
  describe: ['Describe it', 'What agents find when they search, and where they buy.'],
  sale: ['First sale', 'A test purchase shows that the money arrives.'],
}

/** The steps with what is to be done in each. */
export function OpeningSteps({ onChain, merchantId, productId, onMerchant, onProduct }: Props) {
  const queries = useQueryClient()
  const [typedEndpoint, setTypedEndpoint] = useState<string>()
  // The chain has no names: one that was typed while listing is proposed for the description.
  const [proposed, setProposed] = useState('')
  const seen = useFacts(onChain, merchantId, productId, typedEndpoint)
  const { merchant, product, told, endpoint, facts } = seen
  const steps = stepsOf(facts)
  const next = nextStep(steps)
  // Only at first: what is being typed in one step must not go away while another is looked at.
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    if (!seen.isLoading) setShown(true)
  }, [seen.isLoading])
  const reached = useReached(isShown ? (next ?? 'all') : undefined)
  if (!isShown) return <PageSkeleton />
  const name = told?.name || proposed
  // What the next step shows is read first, so that nothing flickers.
  const chooseMerchant = async (id: number) => {
    await queries.prefetchQuery(merchantOnChain(onChain, id))
    onMerchant(id)
  }
  const chooseProduct = async (id: Hex, typed: string) => {
    if (merchantId !== undefined) await queries.prefetchQuery(productOnChain(onChain, merchantId, id))
    setProposed(typed)
    setTypedEndpoint(undefined)
    onProduct(id)
  }
  const another = (text: string) => (
    <Link
      to="/shop/open"
      search={merchantId === undefined ? {} : { merchant: merchantId }}
      onClick={() => {
        setProposed('')
        setTypedEndpoint(undefined)
      }}
    >
      {text}
    </Link>
  )
  const values =
    merchantId !== undefined && productId && product
      ? valuesOf(onChain, { merchantId, productId, name, price: product.minPrice })
      : undefined
  const summaries: Record<StepName, ReactNode> = {
    identity: (
      <p className="row">
        <span>
          Identity {merchantId} belongs to <Hash value={onChain.connected.address} />
        </span>
      </p>
    ),
    open: merchant && (
      <p>
        Shop {merchantId} is open, the market knows it, and sales are paid to <Hash value={merchant.payout} />
      </p>
    ),
    list: product && productId && (
      <p className="row">
        <span>
          {name ? <Foreign text={name} most={120} /> : `Product ${short(productId)}`}: from{' '}
          <Usdc amount={product.minPrice} />, commission {formatBps(product.commissionBps)}
        </span>
        {another('Another product')}
      </p>
    ),
    serve: endpoint && (
      <p>
        <Foreign text={endpoint} most={120} /> answers as it should
      </p>
    ),
    describe: told && (
      <p>
        The market shows “<Foreign text={told.name} most={120} />”
      </p>
    ),
    sale: merchantId !== undefined && (
      <p>
        Sold. See it in{' '}
        <Link to="/shop/$merchantId/sales" params={{ merchantId: String(merchantId) }}>
          your sales
        </Link>
      </p>
    ),
  }
  const bodies: Record<StepName, ReactNode> = {
    identity: (
      <>
        {merchantId !== undefined && merchant && (
          <div className="note note-bad" role="alert">
            <p>
              <strong>
                {merchant.owner
                  ? `Identity ${merchantId} is not yours.`
                  : `There is no identity ${merchantId}.`}
              </strong>{' '}
              {merchant.owner && (
                <>
                  It belongs to <Hash value={merchant.owner} />.{' '}
                </>
              )}
              Choose another one.
            </p>
          </div>
        )}
        <IdentityStep onChain={onChain} onChoose={chooseMerchant} />
      </>
    ),
    open: merchant && merchantId !== undefined && (
      <OpeningStep
        onChain={onChain}
        merchantId={merchantId}
        isActive={merchant.isActive}
        isSuspended={merchant.isSuspended}
        isKnown={facts.isKnown}
      />
    ),
    list:
      merchantId === undefined ? null : product?.listed && productId ? (
        <Transaction
          onChain={onChain}
          label="Open the product"
          call={merchantCall(onChain.deployment.contracts.MerchantRegistry, 'setProductActive', [
            BigInt(merchantId),
            productId,
            true,
          ])}
        >
          The product is listed and closed. Open it for sale again.
        </Transaction>
      ) : (
        <ListingStep
          onChain={onChain}
          merchantId={merchantId}
          products={seen.productIds.map((id) => ({ id, name: seen.names.get(id) ?? '' }))}
          onChoose={({ id, name: typed }) => chooseProduct(id, typed)}
        />
      ),
    serve: values && <ServingStep values={values} url={endpoint ?? ''} onUrl={setTypedEndpoint} />,
    describe: merchantId !== undefined && productId && (
      <DescribeForm
        key={productId}
        merchantId={merchantId}
        productId={productId}
        was={{
          name,
          description: told?.description ?? '',
          category: told?.category ?? '',
          endpointUrl: endpoint ?? '',
        }}
      />
    ),
    sale: values && (
      <SaleStep
        values={values}
        endpointUrl={endpoint ?? ''}
        isSandbox={onChain.deployment.faucetUrl !== undefined}
      />
    ),
  }
  const done = steps.filter(({ isDone }) => isDone).length
  return (
    <>
      <p role="status" className="soft">
        {done === steps.length ? 'All steps are done.' : `${done} of ${steps.length} steps are done.`}
      </p>
      {seen.error && <ErrorNote error={seen.error} />}
      <ol className="shop-steps">
        {steps.map((step, index) => (
          <Step
            key={step.name}
            {...step}
            number={index + 1}
            title={TEXTS[step.name][0]}
            about={TEXTS[step.name][1]}
            isNext={step.name === next}
            isReached={step.name === reached}
            summary={summaries[step.name]}
          >
            {!step.isDone && bodies[step.name]}
          </Step>
        ))}
      </ol>
      {done === steps.length && merchantId !== undefined && (
        <div className="note note-good">
          <p>
            <strong>Your shop sells.</strong>{' '}
            <Link to="/shop/$merchantId" params={{ merchantId: String(merchantId) }}>
              Go to your shop
            </Link>
            , or {another('list another product')}
          </p>
        </div>
      )}
    </>
  )
}

/** The step that became the next one while the page was open; undefined at first, so that the focus is not taken away. */
function useReached(next: StepName | 'all' | undefined): StepName | 'all' | undefined {
  const first = useRef<StepName | 'all'>(undefined)
  const [reached, setReached] = useState<StepName | 'all'>()
  useEffect(() => {
    if (next === undefined) return
    if (first.current !== undefined && first.current !== next) setReached(next)
    first.current = next
  }, [next])
  return reached
}
