import { Money, ProductId, type RequestSignature, X402 } from '@referrer/protocol'
import { type Address, concat, type Hex, isAddress, isHex, keccak256, stringToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { isResponse } from './answers.ts'
import type { MerchantEvent } from './events.ts'
import { bazaarOf, type ProductInput, type ProductOutput } from './extensions/bazaar.ts'
import type { Extensions } from './extensions/declarations.ts'
import { type ReceiptsConfig, readReceipts } from './extensions/offer-receipt.ts'
import { type PaymentIdsConfig, readPaymentIds } from './extensions/payment-identifier.ts'
import { readSignIn, type SignInConfig } from './extensions/sign-in.ts'
import type { PaymentMemory } from './payment-memory.ts'
import { refuse } from './refuse.ts'
import type { Sale } from './sale.ts'

/**
 * USDC: base units as a bigint, or decimal text such as `'0.10'`.
 *
 * @example
 * ```ts
 * import type { Price } from '@referrer/merchant'
 *
 * export const prices: Price[] = ['0.10', 100_000n]
 * ```
 */
export type Price = bigint | string

/**
 * Where the market is, and how to settle at it.
 *
 * @example
 * ```ts
 * import { createPaymentMemory, type MarketConfig } from '@referrer/merchant'
 *
 * export const market: MarketConfig = {
 *   chainId: 31337,
 *   rpcUrl: 'http://127.0.0.1:8545',
 *   addressRegistry: '0x1cf1a78B12CFd45F03514845b3A6F2d91CE40869',
 *   facilitatorUrl: 'http://127.0.0.1:8081',
 *   setupUrl: 'http://127.0.0.1:8080/.well-known/referrer-agent',
 *   merchantId: 5,
 *   payments: createPaymentMemory(),
 * }
 * ```
 */
export interface MarketConfig {
  chainId: number
  /** One node, or several: when one fails, the next one is asked. */
  rpcUrl: string | readonly string[]
  /** The market's address registry: the split router and USDC are looked up there. */
  addressRegistry: Address
  facilitatorUrl: string
  /** The market's manifest, where buyers learn how to pay. */
  setupUrl: string
  /** Your identity. A payment through a link to another merchant's product would pay that merchant, so it is refused. */
  merchantId: number | bigint
  product?: {
    /** The product sold here, as listed on-chain. A link to another of your products is then settled on this one's terms. */
    id?: Hex
  }
  /** A hot key that may settle for you. It signs what is sent to the facilitator. */
  signingKey?: Hex | RequestSignature.RequestSigner
  /** One for all endpoints of the process, from `createPaymentMemory`: it keeps two of them from serving the same payment. */
  payments: PaymentMemory
  /** How long the facilitator may take to settle. */
  timeoutMs?: number
  /**
   * Whether the chain has to show each purchase before it is served: true for all, false for none. Left out: where the facilitator is not
   * the one that the market's manifest names.
   */
  checkOnChain?: boolean | undefined
  /** How long the chain may take to show it. */
  checkTimeoutMs?: number
  /** How old the addresses may get before they are read again. */
  refreshMs?: number
  fetch?: typeof fetch
  /** Milliseconds since 1970. */
  now?: () => number
  /** Called with whatever is worth a line in your log. */
  onEvent?: (event: MerchantEvent) => void
}

/**
 * @example
 * ```ts
 * import type { MarketConfig, ReferralConfig } from '@referrer/merchant'
 *
 * declare const market: MarketConfig
 * export const config: ReferralConfig = {
 *   ...market,
 *   product: { id: `0x${'a1'.repeat(32)}`, description: 'A joke about any topic' },
 *   price: (request) =>
 *     new URL(request.url).searchParams.has('topic') ? '0.10' : new Response('name a topic', { status: 400 }),
 *   serve: (request, sale) => ({ joke: new URL(request.url).searchParams.get('topic'), buyer: sale.payer }),
 * }
 * ```
 */
export interface ReferralConfig extends MarketConfig {
  /**
   * A function sees the request first: it may price it, or answer with a `Response` of its own (a 404 for what you do not
   * sell, a 400 for input that you could not serve) before anybody pays.
   */
  price: Price | ((request: Request) => Price | Response | Promise<Price | Response>)
  product?: MarketConfig['product'] & {
    description?: string
    mimeType?: string
    /** How it is called. With it, or with `output`, the offer declares the extension `bazaar`, which catalogues of services read. */
    input?: ProductInput
    /** What is answered. */
    output?: ProductOutput
  }
  /**
   * Called once the money has moved. Anything JSON-able becomes the body, joined by `transaction`; a `Response` is sent as it
   * is, joined by `transaction` where it is JSON. When it throws, or answers 500 or above, the buyer may send the same payment again.
   */
  serve(request: Request, sale: Sale): unknown
  /** Where buyers reach this endpoint, if a proxy stands before it. The query of the request is kept. */
  publicUrl?: string
  /**
   * Also sells to clients of the Machine Payments Protocol: a 402 then has `WWW-Authenticate: Payment` beside the x402 offer. Needs a `secretKey`,
   * or a private key as `signingKey`, from which it is made where it is left out: the same in all processes behind one address.
   */
  mpp?: boolean | { realm?: string; secretKey?: string }
  /** Signs offers, and a receipt for what was served: the extension `offer-receipt`. */
  receipts?: ReceiptsConfig
  /** Serves buyers again what they bought, for a signature: the extension `sign-in-with-x`. Not for what is sold anew each time. */
  signIn?: SignInConfig
  /** Answers a purchase that its buyer repeats under the same identifier, without a second payment: the extension `payment-identifier`. */
  paymentIds?: PaymentIdsConfig
}

/** The configuration once it is checked, with its defaults. */
export interface MarketSettings {
  chainId: number
  network: X402.Network.Network
  rpcUrls: readonly string[]
  addressRegistry: Address
  facilitatorUrl: string
  setupUrl: string
  merchantId: bigint
  productId: Hex | undefined
  signer: RequestSignature.RequestSigner | undefined
  payments: PaymentMemory
  timeoutMs: number
  /** Undefined where it depends on whose the facilitator is. */
  looks: boolean | undefined
  lookMs: number
  refreshMs: number
  fetch: typeof fetch
  now: () => number
  tell(event: MerchantEvent): void
}

export interface Settings extends MarketSettings {
  /** Undefined where the price depends on the request. */
  fixedPrice: bigint | undefined
  priceOf(request: Request): Promise<bigint | Response>
  description: string | undefined
  mimeType: string | undefined
  serve(request: Request, sale: Sale): unknown
  publicUrl: URL | undefined
  /** Undefined where MPP is off. `realm` is the host of the endpoint where it is undefined. */
  mpp: { realm: string | undefined; secretKey: string } | undefined
  extensions: Extensions
}

const TIMEOUT_MS = 58_000
const LOOK_MS = 20_000
const REFRESH_MS = 5 * 60_000
/** The offer also travels in a header, and all headers together have 16 KiB. */
const MAX_TEXT_CHARS = 500
const MIN_SECRET_CHARS = 32

export function readConfig(config: ReferralConfig): Settings {
  const { product = {}, price, publicUrl, receipts, signIn, paymentIds } = config
  if (typeof config.serve !== 'function') refuse('serve', 'a function')
  // Whoever asks chooses the host of the request: a signature that another site collected would be taken here.
  if (signIn && publicUrl === undefined) refuse('publicUrl', 'set where signIn is: buyers sign for its host')
  return {
    ...readMarketConfig(config),
    fixedPrice: typeof price === 'function' ? undefined : amountOf(price),
    priceOf: pricing(price),
    description: shortText(product.description, 'product.description'),
    mimeType: shortText(product.mimeType, 'product.mimeType'),
    serve: config.serve.bind(config),
    publicUrl: publicUrl === undefined ? undefined : webUrl(publicUrl, 'publicUrl'),
    mpp: mppOf(config),
    extensions: {
      bazaar: bazaarOf(product),
      issuer: receipts && readReceipts(receipts, config.signingKey),
      signIn: signIn && readSignIn(signIn),
      paymentIds: paymentIds && readPaymentIds(paymentIds),
    },
  }
}

export function readMarketConfig(config: MarketConfig): MarketSettings {
  const { product = {}, onEvent } = config
  return {
    chainId: positive(config.chainId, 'chainId'),
    network: X402.Network.from(config.chainId),
    rpcUrls: nodes(config.rpcUrl),
    addressRegistry: isAddress(config.addressRegistry)
      ? config.addressRegistry
      : refuse('addressRegistry', 'an address'),
    facilitatorUrl: webUrl(config.facilitatorUrl, 'facilitatorUrl').href.replace(/\/+$/, ''),
    setupUrl: webUrl(config.setupUrl, 'setupUrl').href,
    merchantId: identity(config.merchantId),
    productId: product.id === undefined ? undefined : ProductId.parse(product.id),
    signer: signerOf(config.signingKey),
    payments: memory(config.payments),
    timeoutMs: positive(config.timeoutMs ?? TIMEOUT_MS, 'timeoutMs'),
    looks: flag(config.checkOnChain, 'checkOnChain'),
    lookMs: positive(config.checkTimeoutMs ?? LOOK_MS, 'checkTimeoutMs'),
    refreshMs: positive(config.refreshMs ?? REFRESH_MS, 'refreshMs'),
    fetch: config.fetch ?? ((...request) => globalThis.fetch(...request)),
    now: config.now ?? Date.now,
    tell(event) {
      try {
        onEvent?.(event)
      } catch {
        // A log that fails must not cost a sale.
      }
    },
  }
}

function pricing(price: ReferralConfig['price']): Settings['priceOf'] {
  if (typeof price !== 'function') {
    const amount = amountOf(price)
    return async () => amount
  }
  return async (request) => {
    // The price may read the body, and `serve` must be able to read it again.
    const answer = await price(request.body === null ? request : request.clone())
    return isResponse(answer) ? answer : amountOf(answer)
  }
}

export function amountOf(price: Price): bigint {
  const amount = typeof price === 'bigint' ? price : Money.parse(price)
  if (amount <= 0n || amount > BigInt(Number.MAX_SAFE_INTEGER)) {
    refuse('price', `from 0.000001 to ${Money.format(BigInt(Number.MAX_SAFE_INTEGER))} USDC`)
  }
  return amount
}

function signerOf(key: ReferralConfig['signingKey']): RequestSignature.RequestSigner | undefined {
  if (typeof key !== 'string') return key
  if (!isHex(key) || key.length !== 66)
    refuse('signingKey', 'a 0x-prefixed 32-byte private key or an account')
  return privateKeyToAccount(key)
}

function mppOf({ mpp = false, signingKey }: ReferralConfig): Settings['mpp'] {
  if (mpp === false) return undefined
  if (mpp !== true && (typeof mpp !== 'object' || mpp === null)) refuse('mpp', 'true, false or an object')
  const { realm, secretKey = secretFrom(signingKey) } = mpp === true ? {} : mpp
  if (realm !== undefined && (typeof realm !== 'string' || !/^[\w.:/-]{1,200}$/.test(realm))) {
    refuse('mpp.realm', 'at most 200 letters, digits and . : / _ -')
  }
  if (typeof secretKey !== 'string' || secretKey.length < MIN_SECRET_CHARS) {
    refuse('mpp.secretKey', `at least ${MIN_SECRET_CHARS} characters by chance`)
  }
  return { realm, secretKey }
}

/**
 * The same in every process, and after a restart. A secret by chance would not be: a process then refuses the challenges of the others, whose
 * buyers may have paid already.
 */
function secretFrom(signingKey: ReferralConfig['signingKey']): Hex {
  if (typeof signingKey !== 'string') {
    refuse(
      'mpp.secretKey',
      `set (at least ${MIN_SECRET_CHARS} characters by chance, the same in every process of the shop), or signingKey a private key`,
    )
  }
  return keccak256(concat([stringToHex('referrer: challenges of the Payment scheme'), signingKey]))
}

function memory(payments: PaymentMemory | undefined): PaymentMemory {
  return (
    payments ?? refuse('payments', 'what createPaymentMemory() returns, one for all endpoints of the process')
  )
}

function nodes(rpcUrl: ReferralConfig['rpcUrl']): string[] {
  const urls = (typeof rpcUrl === 'string' ? [rpcUrl] : [...rpcUrl]).map((url) => webUrl(url, 'rpcUrl').href)
  if (urls.length === 0) refuse('rpcUrl', 'at least one URL')
  return urls
}

function webUrl(value: string, what: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) return refuse(what, 'an http(s) URL')
  return url
}

function identity(value: number | bigint): bigint {
  const isId = typeof value === 'bigint' ? value >= 0n : Number.isSafeInteger(value) && value >= 0
  return isId ? BigInt(value) : refuse('merchantId', 'the id of your identity, from 0 up')
}

function positive(value: number, what: string): number {
  return Number.isSafeInteger(value) && value > 0 ? value : refuse(what, 'a positive integer')
}

function flag(value: boolean | undefined, what: string): boolean | undefined {
  return value === undefined || typeof value === 'boolean' ? value : refuse(what, 'true or false')
}

function shortText(value: string | undefined, what: string): string | undefined {
  if (value !== undefined && (typeof value !== 'string' || value.length > MAX_TEXT_CHARS)) {
    refuse(what, `at most ${MAX_TEXT_CHARS} characters`)
  }
  return value
}
