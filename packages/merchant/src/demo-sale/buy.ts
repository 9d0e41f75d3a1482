// A purchase through a ref link, as any x402 buyer makes it.
import { Attribution, AttributionToken, Authorization, ProtocolError, X402 } from '@referrer/protocol'
import { type Hash, isAddressEqual, isHash, type PrivateKeyAccount } from 'viem'
import { type Shop, ShopError } from '../shop/index.ts'

export interface Bought {
  transaction: Hash
  answer: Record<string, unknown>
}

export async function buyThrough(shop: Shop, buyer: PrivateKeyAccount, refLink: string): Promise<Bought> {
  const resolved = await fetch(refLink)
  const { token, merchant_endpoint: endpoint } = (await resolved.json()) as {
    token?: string
    merchant_endpoint?: string
  }
  if (!token || !endpoint)
    throw new ShopError(`the ref link does not resolve (status ${resolved.status}): ${refLink}`)
  const headers = { [X402.REFERRER_TOKEN_HEADER]: token }
  const offer = await askOffer(endpoint, headers)
  const payment = await sign(shop, buyer, token, offer)
  const response = await fetch(endpoint, {
    headers: { ...headers, [X402.PAYMENT_SIGNATURE_HEADER]: payment },
  })
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>
  const { transaction } = answer
  if (!response.ok || typeof transaction !== 'string' || !isHash(transaction)) {
    throw new ShopError(
      `the shop took the payment and answered ${response.status}: ${JSON.stringify(answer)}`,
    )
  }
  return { transaction, answer }
}

/** What the endpoint asks for. */
export async function askOffer(endpoint: string, headers: Record<string, string> = {}) {
  const response = await fetch(endpoint, { headers }).catch((error: unknown) => {
    throw new ShopError(
      `nothing answers at ${endpoint}: start the shop with npm run dev, then run this again`,
      {
        cause: error,
      },
    )
  })
  const body: unknown = await response.json().catch(() => undefined)
  const header = response.headers.get(X402.PAYMENT_REQUIRED_HEADER)
  try {
    if (response.status === 402)
      return X402.PaymentRequired.parse(X402.PaymentRequired.fromResponse({ header, body }))
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
  }
  throw new ShopError(`${endpoint} made no offer (status ${response.status}): run referrer-merchant check`)
}

const VALID_SECONDS = 60

/** The nonce commits the money to this link's terms: nobody can settle it on others. */
async function sign(
  { client, deployment: { chainId, contracts } }: Shop,
  buyer: PrivateKeyAccount,
  token: string,
  offer: X402.PaymentRequired.ReceivedPaymentRequired,
): Promise<string> {
  const [accepted] = offer.accepts
  if (
    !isAddressEqual(accepted.payTo, contracts.SplitRouter) ||
    !isAddressEqual(accepted.asset, contracts.USDC)
  ) {
    throw new ShopError('the offer does not pay USDC to the split router: run referrer-merchant check')
  }
  const salt = Attribution.attributionSalt(token, Attribution.randomSecret())
  const attribution = Attribution.from(AttributionToken.decodeUnverified(token), { salt })
  const { timestamp } = await client.getBlock()
  const now = Math.max(Number(timestamp), Math.floor(Date.now() / 1_000))
  const authorization = {
    from: buyer.address,
    to: contracts.SplitRouter,
    value: accepted.amount,
    validAfter: '0',
    validBefore: String(now + VALID_SECONDS),
    nonce: Attribution.attributionNonce(attribution),
  }
  const { name, version } = accepted.extra
  const domain = { name, version, chainId, verifyingContract: contracts.USDC }
  const signature = await buyer.signTypedData(
    Authorization.typedData('ReceiveWithAuthorization', domain, authorization),
  )
  return X402.PaymentPayload.serialize({
    x402Version: X402.VERSION,
    ...(offer.resource && { resource: offer.resource }),
    accepted,
    payload: { signature, authorization },
    extensions: { ...offer.extensions, attributionToken: token, attributionSalt: salt },
  })
}
