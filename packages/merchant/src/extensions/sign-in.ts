// The `sign-in-with-x` extension of x402: a buyer comes back to what it bought, with a signature in place of a payment.
import { X402 } from '@referrer/protocol'
import {
  type Address,
  getAddress,
  type Hex,
  isAddress,
  isHex,
  keccak256,
  type PublicClient,
  stringToBytes,
} from 'viem'
import { verifyMessage } from 'viem/utils'
import { refuse } from '../refuse.ts'
import type { Sale } from '../sale.ts'
import { within } from '../within.ts'

/**
 * Where it is kept who bought what: two functions over a table, or over Redis. Several processes share one.
 *
 * @example
 * ```ts
 * import type { PurchaseStorage } from '@referrer/merchant'
 *
 * declare const redis: { set(key: string, value: string): Promise<unknown>; get(key: string): Promise<string | null> }
 * export const storage: PurchaseStorage = {
 *   record: async (key, value) => void (await redis.set(key, value)),
 *   find: async (key) => (await redis.get(key)) ?? undefined,
 * }
 * ```
 */
export interface PurchaseStorage {
  /** Keeps the value, in place of an earlier one. Both are short text. */
  record(key: string, value: string): Promise<void>
  find(key: string): Promise<string | undefined>
}

/**
 * Lets buyers come back to what they bought.
 *
 * @example
 * ```ts
 * import type { SignInConfig } from '@referrer/merchant'
 *
 * export const signIn: SignInConfig = {
 *   statement: 'Read again what you bought',
 *   resource: (request) => new URL(request.url).searchParams.get('article') ?? undefined,
 * }
 * ```
 */
export interface SignInConfig {
  /** What a wallet shows to whoever signs. */
  statement?: string
  /** Left out: the memory of this process, which forgets the oldest of 10,000 purchases, and all of them when the process ends. */
  storage?: PurchaseStorage
  /**
   * Names what a request asks for: whoever bought that once gets it again. Left out: path and query of a GET. Undefined for what is sold
   * anew each time.
   */
  resource?: (request: Request) => string | undefined
  /**
   * What a buyer gets when the resource costs more now than it paid: the offer (`pay`, the default), or what it bought (`serve`). Set `serve`
   * only where a resource names one thing, whose price may rise: otherwise whoever bought the cheapest gets the dearest.
   */
  whenDearer?: 'pay' | 'serve'
}

export interface SignIn {
  statement: string | undefined
  storage: PurchaseStorage
  /** Undefined where nobody can come back. */
  resourceOf(request: Request): string | undefined
  isOpenTo(request: Request): boolean
  /** Whether a purchase for this amount lets its buyer have what costs that much now. */
  covers(paid: bigint, price: bigint): boolean
}

/** Why a signature lets nobody in, in the words of the standard. */
export interface Refused {
  reason: string
  message: string
}

export const SIGN_IN_WITH_X = 'sign-in-with-x'
export const SIGN_IN_HEADER = 'SIGN-IN-WITH-X'
const MAX_STATEMENT_CHARS = 200
const MAX_AGE_MS = 5 * 60_000
/** How far the clocks of two processes of the shop may be apart. */
const CLOCK_SKEW_MS = 30_000
const MAX_RESOURCE_CHARS = 4_096
const MAX_PURCHASES = 10_000
const LOOKUP_MS = 3_000
const ISO_DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const NONCE = /^[a-zA-Z0-9]{8,64}$/
/** A contract wallet is asked by the node, and whoever sends a signature chooses the address. */
const MAX_ASKED_AT_ONCE = 4
const MAX_ASKED_PER_MINUTE = 5
/** Anybody can read on the chain who has bought, and send junk in the names of all of them. */
const MAX_ASKED_OF_ALL_PER_MINUTE = 120
const MINUTE_MS = 60_000
const MAX_WALLETS = 1_000

const dated = { type: 'string', format: 'date-time' }
const plain = { type: 'string' }
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    domain: plain,
    address: plain,
    statement: plain,
    uri: { type: 'string', format: 'uri' },
    version: plain,
    chainId: plain,
    type: plain,
    nonce: plain,
    issuedAt: dated,
    expirationTime: dated,
    notBefore: dated,
    requestId: plain,
    resources: { type: 'array', items: { type: 'string', format: 'uri' } },
    signature: plain,
  },
  required: ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'],
}

export function readSignIn(config: SignInConfig): SignIn {
  const { statement, storage = purchaseMemory(), resource, whenDearer = 'pay' } = config
  const isText = typeof statement === 'string' && statement !== '' && /^[\x20-\x7e]*$/.test(statement)
  if (statement !== undefined && (!isText || statement.length > MAX_STATEMENT_CHARS)) {
    refuse('signIn.statement', `one line of at most ${MAX_STATEMENT_CHARS} printable ASCII characters`)
  }
  if (typeof storage?.record !== 'function' || typeof storage.find !== 'function') {
    refuse('signIn.storage', 'an object with the functions record and find')
  }
  if (resource !== undefined && typeof resource !== 'function') refuse('signIn.resource', 'a function')
  if (whenDearer !== 'pay' && whenDearer !== 'serve') refuse('signIn.whenDearer', "'pay' or 'serve'")
  return {
    statement,
    storage,
    isOpenTo: ({ method }) => resource !== undefined || method === 'GET',
    covers: (paid, price) => paid >= price || whenDearer === 'serve',
    resourceOf(request) {
      const { pathname, search } = new URL(request.url)
      const name = resource
        ? // It may read the body, and `serve` must be able to read it again.
          resource(request.body === null ? request : request.clone())
        : request.method === 'GET'
          ? `${pathname}${search}`
          : undefined
      return typeof name === 'string' && name.length <= MAX_RESOURCE_CHARS ? name : undefined
    },
  }
}

/** Whose signature is asked for, where. */
interface Place {
  uri: string
  network: X402.Network.Network
}

/** The extension of a 402, with a nonce of its own. Nothing is remembered of it, so asking without end fills no memory. */
export function challengeOf({ statement }: SignIn, { uri, network }: Place, nowMs: number): object {
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  )
  return {
    info: {
      domain: new URL(uri).host,
      uri,
      ...(statement !== undefined && { statement }),
      version: '1',
      nonce: nonce.join(''),
      issuedAt: new Date(nowMs).toISOString(),
      expirationTime: new Date(nowMs + MAX_AGE_MS).toISOString(),
    },
    supportedChains: [{ chainId: network, type: 'eip191' }],
    schema: SCHEMA,
  }
}

/** What the header says, as far as it could be true: its signature is not verified yet. */
export interface Claimed {
  address: Address
  nonce: string
  /** Unix seconds: until then the nonce must not be accepted again. */
  until: number
  message: string
  signature: Hex
}

export function readHeader(
  { statement }: SignIn,
  { uri, network }: Place,
  header: string,
  nowMs: number,
): Claimed | Refused {
  let given: Record<string, unknown>
  try {
    given = Object(X402.decodeHeader(header))
  } catch {
    given = {}
  }
  const { domain, address, chainId, type, nonce, issuedAt, expirationTime, signature } = given
  const host = new URL(uri).host
  if (domain !== host) return refused('domain_mismatch', `the domain must be ${host}`)
  if (given.uri !== uri) return refused('uri_mismatch', `the uri must be ${uri}`)
  if (chainId !== network || type !== 'eip191')
    return refused('unsupported_chain', `sign for ${network} by eip191`)
  const issued = dateOf(issuedAt)
  if (issued === undefined) return refused('issued_at', 'issuedAt must be that of the 402')
  if (nowMs - issued > MAX_AGE_MS) return refused('issued_at_too_old', 'ask for a new 402 and sign that')
  if (issued - nowMs > CLOCK_SKEW_MS)
    return refused('issued_at_in_future', 'issuedAt must be that of the 402')
  const expires = dateOf(expirationTime)
  if (expires === undefined) return refused('expiration_time', 'expirationTime must be that of the 402')
  if (expires < nowMs) return refused('expired', 'ask for a new 402 and sign that')
  if (typeof nonce !== 'string' || !NONCE.test(nonce))
    return refused('nonce', 'the nonce must be that of the 402')
  if (typeof address !== 'string' || !isAddress(address, { strict: false }) || !isHex(signature)) {
    return refused('malformed_signature', 'address and signature must be hex')
  }
  // Of what was signed only who, when and the nonce are the buyer's to say: the rest is ours.
  const dates = { issuedAt: `${issuedAt}`, expirationTime: `${expirationTime}` }
  const message = textOf({ host, uri, statement, network, address, nonce, ...dates })
  const until = Math.ceil((issued + MAX_AGE_MS + CLOCK_SKEW_MS) / 1_000)
  return { address: address.toLowerCase() as Address, nonce, until, message, signature }
}

export const refused = (what: string, message: string): Refused => ({
  reason: `invalid_siwx_${what}`,
  message,
})

function dateOf(value: unknown): number | undefined {
  const time = typeof value === 'string' && ISO_DATE.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** Nobody was asked: the same signature may be sent again after this time. */
export interface Busy {
  seconds: number
}

/**
 * Whether the address signed. A key is recovered here; a contract wallet (ERC-1271, ERC-6492) is asked through the node, a few times a
 * minute. Throws where the node cannot be asked.
 */
export function createVerifier(client: Pick<PublicClient, 'verifyMessage'>, now: () => number) {
  const asked = new Map<Address, Counted>()
  let askedOfAll: Counted = { times: 0, since: now() }
  let asking = 0

  const current = (counted: Counted | undefined): Counted =>
    counted && now() - counted.since < MINUTE_MS ? counted : { times: 0, since: now() }
  const untilOver = ({ since }: Counted) => Math.max(1, Math.ceil((since + MINUTE_MS - now()) / 1_000))

  /** Undefined where it may be asked; then it is counted. */
  function busyFor(address: Address): Busy | undefined {
    const [wallet, all] = [current(asked.get(address)), current(askedOfAll)]
    if (wallet.times >= MAX_ASKED_PER_MINUTE) return { seconds: untilOver(wallet) }
    if (all.times >= MAX_ASKED_OF_ALL_PER_MINUTE) return { seconds: untilOver(all) }
    if (asking >= MAX_ASKED_AT_ONCE) return { seconds: 1 }
    askedOfAll = { ...all, times: all.times + 1 }
    asked.delete(address)
    asked.set(address, { ...wallet, times: wallet.times + 1 })
    const oldest = asked.size > MAX_WALLETS ? asked.keys().next().value : undefined
    if (oldest !== undefined) asked.delete(oldest)
    return undefined
  }

  return async ({ address, message, signature }: Claimed): Promise<boolean | Busy> => {
    if (await verifyMessage({ address, message, signature }).catch(() => false)) return true
    const busy = busyFor(address)
    if (busy) return busy
    asking++
    try {
      return await client.verifyMessage({ address, message, signature })
    } finally {
      asking--
    }
  }
}

/** How often within the minute that began then (milliseconds since 1970). */
interface Counted {
  times: number
  since: number
}

/** What a purchase is kept under. Endpoints and chains that share a storage do not meet. */
export interface Bought {
  network: string
  merchantId: bigint
  productId: Hex | undefined
  payer: string
  resource: string
}

const keyOf = ({ network, merchantId, productId, payer, resource }: Bought) =>
  `referrer:bought:${keccak256(
    stringToBytes(JSON.stringify([network, `${merchantId}`, productId ?? '', payer.toLowerCase(), resource])),
  )}`

/** Of two purchases the dearer one is kept: it lets its buyer have more. */
export async function recordSale(signIn: SignIn, bought: Bought, sale: Sale): Promise<void> {
  const { storage } = signIn
  const value = await within(LOOKUP_MS, storage.find(keyOf(bought)))
  if (amountIn(value) > sale.amount) return
  await within(
    LOOKUP_MS,
    storage.record(keyOf(bought), JSON.stringify({ ...sale, amount: `${sale.amount}` })),
  )
}

/** What cannot be read is replaced. */
function amountIn(value: string | null | undefined): bigint {
  try {
    return BigInt(JSON.parse(value ?? '').amount)
  } catch {
    return -1n
  }
}

/** The purchase, or undefined. Throws where the storage does not answer, or not with what was kept. */
export async function findSale({ storage }: SignIn, bought: Bought): Promise<Sale | undefined> {
  const value = await within(LOOKUP_MS, storage.find(keyOf(bought)))
  if (value === undefined || value === null) return undefined
  const sale = JSON.parse(value)
  return { ...sale, amount: BigInt(sale.amount), isReturning: true }
}

function purchaseMemory(): PurchaseStorage {
  const purchases = new Map<string, string>()
  return {
    async record(key, value) {
      purchases.delete(key)
      purchases.set(key, value)
      const oldest = purchases.size > MAX_PURCHASES ? purchases.keys().next().value : undefined
      if (oldest !== undefined) purchases.delete(oldest)
    },
    find: async (key) => purchases.get(key),
  }
}

/** The text of EIP-4361, which a wallet shows. */
function textOf(signed: {
  host: string
  uri: string
  statement: string | undefined
  network: X402.Network.Network
  address: Address
  nonce: string
  issuedAt: string
  expirationTime: string
}): string {
  const { host, uri, statement, network, address, nonce, issuedAt, expirationTime } = signed
  return [
    `${host} wants you to sign in with your Ethereum account:`,
    getAddress(address),
    '',
    ...(statement === undefined ? [] : [statement]),
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${network.slice('eip155:'.length)}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    `Expiration Time: ${expirationTime}`,
  ].join('\n')
}
