// Buying with a wallet, here and now. Loaded only when somebody wants to: it brings the wallets and the payment client.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { type Address, erc20Abi, isAddressEqual } from 'viem'
import { type Api, read } from '../../../../api/api.ts'
import { Problem } from '../../../../api/problem.ts'
import { rootRoute } from '../../../../frame/root.tsx'
import { ErrorNote } from '../../../../ui/errors.tsx'
import type { Connected } from '../../../../wallet/config.ts'
import { problemOf } from '../../../../wallet/problem.ts'
import { type TakeBackCall, takeBackIn } from '../../../../wallet/take-back.ts'
import { TakeBackButton } from '../../../../wallet/take-back-button.tsx'
import { WithWallet } from '../../../../wallet/with-wallet.tsx'
import type { ProductReview, RefLink } from '../questions.ts'
import { productPage } from '../search.ts'
import { Asking } from './asking.tsx'
import { Done } from './done.tsx'
import {
  type CheckoutAnswer,
  checkOffer,
  type Market,
  missingText,
  type Offer,
  readMarket,
  readOffer,
} from './offer.ts'
import { Offered } from './offered.tsx'
import { readPaymentState, sign } from './payment.ts'
import type { Bought, Wish } from './purchase.ts'
import { callShop } from './shop.ts'
import {
  forgetPayment,
  keepPayment,
  loadPayment,
  type PaymentKey,
  type SignedPayment,
} from './signed-payments.ts'
import { Unsettled } from './unsettled.tsx'

interface Props {
  target: RefLink
  review: ProductReview
  commissionBps: number
  /** What the market last saw as price. */
  listedPrice: number | undefined
}

export const WalletPurchase = (props: Props) => (
  <div className="stack">
    <p>
      You sign one permission and pay no gas: the market’s contract takes the price from your wallet, once,
      and splits it in the same moment.
    </p>
    <p className="small soft">
      This page asks the shop by GET, with the values that you enter. The market does not know what else a
      product wants: one that wants a POST with a body is bought by{' '}
      <OtherWay way={undefined}>your agent</OtherWay>, which reads the product’s description, or by{' '}
      <OtherWay way="x402">an x402 client</OtherWay> that you give the body.
    </p>
    <WithWallet chainId={props.target.chain_id}>
      {(connected) => <Purchase key={connected.address} {...props} connected={connected} />}
    </WithWallet>
  </div>
)

function OtherWay({ way, children }: { way: 'x402' | undefined; children: ReactNode }) {
  const params = productPage.useParams()
  return (
    <Link
      to="/product/$merchantId/$productId"
      params={params}
      search={(before) => ({ ...before, way })}
      hash="buy"
      resetScroll={false}
    >
      {children}
    </Link>
  )
}

/** The split router must be the market's own: the manifest names it, not the link alone. */
async function marketOf(api: Api, connected: Connected, target: RefLink): Promise<Market> {
  const { chains } = await api.get('/.well-known/referrer-agent')
  const own = chains.find(({ chainId }) => chainId === target.chain_id)
  if (!own || !isAddressEqual(own.splitRouter as Address, target.split_router as Address)) {
    throw new Problem(
      'This link is for another contract than the market’s',
      'Reload the page and choose a review again.',
    )
  }
  return readMarket(connected.reads, own.splitRouter as Address)
}

function Purchase({
  target,
  review,
  commissionBps,
  listedPrice,
  connected,
}: Props & { connected: Connected }) {
  const { api } = rootRoute.useRouteContext()
  const queries = useQueryClient()
  const key: PaymentKey = {
    chainId: target.chain_id,
    payer: connected.address,
    merchantId: target.merchant_id,
    productId: target.product_id,
  }
  const [payment, setPayment] = useState(() => loadPayment(localStorage, key))
  const [bought, setBought] = useState<Bought>()
  const [call, setCall] = useState<TakeBackCall>()
  const [last, setLast] = useState<Record<string, string>>({})
  const { data: manifest } = useQuery(read(api, '/.well-known/referrer-agent'))

  const asking = useMutation({
    mutationFn: async (wish: Wish) => {
      if (isAddressEqual(review.author.owner_address as Address, connected.address)) {
        throw new Problem('This review is by an agent of yours', 'Buy through the review of somebody else.')
      }
      const market = await marketOf(api, connected, target)
      const answer = await callShop(api, { token: target.token, query: wish.query })
      const offer = checkOffer(readOffer(answer), market, target)
      const balance = await connected.reads.readContract({
        address: market.usdc,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [connected.address],
      })
      return { wish, market, offer, balance }
    },
  })

  /** Sends a payment that is signed; the same one may be sent again and again. */
  async function send(signed: SignedPayment): Promise<void> {
    const answer = await callShop(api, { token: signed.token, payment: signed.header, query: signed.query })
    const isServed = answer.status >= 200 && answer.status < 300
    setCall(isServed ? undefined : saidIn(answer).map(takeBackIn).find(Boolean))
    if (!isServed) throw new Problem(refusalOf(answer), 'See below what became of your payment.')
    setBought({ answer, payment: signed })
    setPayment(undefined)
    forgetPayment(localStorage, key)
    queries.invalidateQueries({ queryKey: ['/v1/activity'] })
  }

  const paying = useMutation({
    mutationFn: async ({ offer, wish }: { offer: Offer; wish: Wish }) => {
      const elsewhere = loadPayment(localStorage, key)
      if (elsewhere) {
        setPayment(elsewhere)
        throw new Problem(
          'You have signed a payment in another tab',
          'Go on with that one: two would be paid twice.',
        )
      }
      const signed = await sign(connected, offer, { token: target.token, ...wish })
      // Kept before it leaves the browser: from here on it can be taken.
      keepPayment(localStorage, key, signed)
      setPayment(signed)
      await send(signed)
    },
  })
  const again = useMutation({
    // A payment that was not taken may be for another question: it is still one payment.
    mutationFn: async (signed: SignedPayment) => {
      keepPayment(localStorage, key, signed)
      setPayment(signed)
      await send(signed)
    },
  })

  if (bought)
    return (
      <Done
        bought={bought}
        hasCashback={target.cashback_of_commission_bps > 0}
        connected={connected}
        find={() => marketOf(api, connected, target)}
      />
    )
  if (payment) {
    return (
      <Unsettled
        payment={payment}
        isSending={paying.isPending || again.isPending}
        error={again.error ?? paying.error}
        takeBack={
          call &&
          ((onDone) => (
            <TakeBackButton
              connected={connected}
              router={target.split_router as Address}
              call={call}
              onDone={onDone}
            />
          ))
        }
        read={async () => readPaymentState(connected.reads, await marketOf(api, connected, target), payment)}
        onSend={(query) => again.mutate({ ...payment, query })}
        onForget={() => {
          forgetPayment(localStorage, key)
          setLast(payment.query)
          setPayment(undefined)
          paying.reset()
          again.reset()
          asking.reset()
        }}
      />
    )
  }
  const asked = asking.data
  const missing =
    asked && asked.balance < asked.offer.amount ? missingText(asked.offer.amount, asked.balance) : undefined
  return (
    <>
      <Asking
        connected={connected}
        isBusy={asking.isPending || paying.isPending}
        isAgain={asked !== undefined}
        query={last}
        onEdit={asking.reset}
        onAsk={(wish) => asking.mutate(wish)}
      />
      {asking.error && <ErrorNote error={problemOf(asking.error)} />}
      {asked && (
        <Offered
          offer={asked.offer}
          market={asked.market}
          target={target}
          commissionBps={commissionBps}
          listedPrice={listedPrice}
          missing={missing}
          faucet={manifest?.faucetUrl}
          address={connected.address}
          isBusy={paying.isPending}
          onPay={() => paying.mutate(asked)}
        />
      )}
      {paying.error && <ErrorNote error={problemOf(paying.error)} />}
    </>
  )
}

/** What a shop says when it refuses a payment. */
function refusalOf(answer: CheckoutAnswer): string {
  const said = saidIn(answer)
    .map(reasonIn)
    .find((reason) => reason !== undefined)
  return `The shop answered ${answer.status}${said ? `: ${said}` : ''}`
}

/** The objects in its answer, which may be in headers. */
const saidIn = (answer: CheckoutAnswer): object[] =>
  [answer.payment_response, answer.payment_required, answer.is_base64 ? null : answer.body].map(objectIn)

function objectIn(text: string | null): object {
  try {
    const given = text ?? ''
    const isJson = given.trimStart().startsWith('{')
    return Object(JSON.parse(isJson ? given : atob(given.replaceAll('-', '+').replaceAll('_', '/'))))
  } catch {
    return {}
  }
}

function reasonIn(said: object): string | undefined {
  const { errorMessage, errorReason, error } = said as Record<string, unknown>
  return [errorMessage, errorReason, error].find((value) => typeof value === 'string' && value !== '') as
    | string
    | undefined
}
