// Calls the service over real HTTP, with a second implementation of request signing.
import {
  type Address,
  concat,
  type Hex,
  keccak256,
  type LocalAccount,
  numberToHex,
  stringToHex,
  toHex,
} from 'viem'
import { type CreateSiweMessageParameters, createSiweMessage } from 'viem/siwe'

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** Undefined if the answer is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  body: any
}

export interface Ask {
  /** Signs the request. */
  as?: LocalAccount
  /** The token of a session. */
  token?: string
  /** An object is sent as JSON; a string or bytes as they are. */
  body?: unknown
  headers?: Record<string, string>
  /**
   * Unix seconds; by default close to now, and different for each repetition of a request, which would count as a
   * replay.
   */
  timestamp?: number
}

export type Caller = ((method: string, path: string, ask?: Ask) => Promise<Answer>) & { clock(): number }

const signedAt = new Map<string, Set<number>>()

/** A timestamp within half a minute of now that this request has not used. Reads may repeat. */
function unused(clock: () => number, method: string, ...request: unknown[]): number {
  const now = Math.floor(clock() / 1_000)
  if (method === 'GET' || method === 'HEAD') return now
  const name = [method, ...request].join(' ')
  const used = signedAt.get(name) ?? new Set()
  signedAt.set(name, used)
  const near = Array.from({ length: 60 }, (_, index) => now + (index < 30 ? -index : index - 30))
  const at = near.find((time) => !used.has(time))
  if (at === undefined) throw new Error('too many requests that are all the same: give them timestamps')
  used.add(at)
  return at
}

export function callerOf(baseUrl: string, clock: () => number = Date.now): Caller {
  const call = async (
    method: string,
    path: string,
    { as, token, body, headers = {}, timestamp }: Ask = {},
  ): Promise<Answer> => {
    const bytes =
      body === undefined || typeof body === 'string' || body instanceof Uint8Array
        ? body
        : JSON.stringify(body)
    const signed = (account: LocalAccount) =>
      signatureHeaders(
        account,
        (bytes ?? '') as string | Uint8Array,
        timestamp ?? unused(clock, method, path, account.address, bytes),
      )
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(as && (await signed(as))),
        ...headers,
      },
      ...(bytes !== undefined && { body: bytes as string }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parsed(text) }
  }
  return Object.assign(call, { clock })
}

/** The body of an answer; throws unless it is a success. */
export async function must(asked: Promise<Answer>): Promise<Answer['body']> {
  const { status, text, body } = await asked
  if (status >= 300) throw new Error(`what the test needs was refused: ${status} ${text}`)
  return body
}

/** The public URL of the service in tests. */
export const BASE_URL = 'https://market.test'
const CHAIN_ID = 31_337

/** The Sign-In with Ethereum message, with a new nonce unless a test gives other fields. */
export async function signInMessage(
  call: Caller,
  address: Address,
  otherwise: Partial<CreateSiweMessageParameters> = {},
): Promise<string> {
  const { nonce } = otherwise.nonce ? { nonce: otherwise.nonce } : await must(call('GET', '/v1/auth/nonce'))
  const { host: domain } = new URL(BASE_URL)
  const issuedAt = new Date(call.clock())
  const usual = { address, domain, uri: BASE_URL, version: '1', chainId: CHAIN_ID, nonce, issuedAt } as const
  return createSiweMessage({ ...usual, ...otherwise })
}

/** The body that a program signs to open a session. */
export const NAMING_US = `{"domain":"${new URL(BASE_URL).host}"}`

/** The body of a request that changes something and has none of its own. */
export const naming = (method: string, path: string) => ({
  action: `${method} ${path}`,
  domain: new URL(BASE_URL).host,
})

/** The token of a new session. */
export async function sessionOf(call: Caller, as: LocalAccount): Promise<string> {
  const message = await signInMessage(call, as.address)
  const body = { message, signature: await as.signMessage({ message }) }
  return (await must(call('POST', '/v1/auth/session', { body }))).token
}

/** The headers of a request that a page of the console makes. */
export const OWN_PAGE = { 'x-referrer-console': '1', 'sec-fetch-site': 'same-origin' }

/** The headers of a request that a page of the console makes with its session. */
export const cookieOf = (token: string) => ({ ...OWN_PAGE, cookie: `__Host-referrer=${token}` })

export async function signatureHeaders(
  account: LocalAccount,
  body: string | Uint8Array,
  timestamp: number,
): Promise<Record<string, string>> {
  const bytes: Hex = typeof body === 'string' ? stringToHex(body) : toHex(body)
  const raw = keccak256(concat([bytes, numberToHex(timestamp, { size: 8 })]))
  return {
    'x-agent-timestamp': String(timestamp),
    'x-agent-signature': await account.signMessage({ message: { raw } }),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
