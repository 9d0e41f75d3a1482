// The endpoint as buyers meet it. Nothing that is sent here could pay.
import { X402 } from '@referrer/protocol'
import { readJson } from '../body.ts'

export interface Answer {
  status: number
  headers: Headers
  body: Fields
  /** The body where it makes an offer, else what the header says: official middleware answers with an empty body. */
  offer: Fields
}

export type Fields = Record<string, unknown>

export interface Answers {
  get: Answer
  post: Answer
  /** To a buyer that names its agent. */
  agent: Answer
  /** To a header that is no payment. */
  unpaid: Answer
}

/** What the marketplace sends when it looks whether an endpoint is ready. */
export const PROBE_TOKEN = 'referrer-readiness-probe'
export const PROBE_AGENT = '7'
const NO_PAYMENT = 'bm90IGEgcGF5bWVudA'
const TIMEOUT_MS = 10_000
const MAX_BYTES = 262_144

export async function probe(url: string): Promise<Answers> {
  const token = { [X402.REFERRER_TOKEN_HEADER]: PROBE_TOKEN }
  const get = await ask(url, 'GET', token)
  return {
    get,
    post: await ask(url, 'POST', token),
    agent: await ask(url, 'GET', { ...token, [X402.REFERRER_BUYER_AGENT_ID_HEADER]: PROBE_AGENT }),
    unpaid: await ask(url, 'GET', { [X402.PAYMENT_SIGNATURE_HEADER]: NO_PAYMENT }),
  }
}

export async function ask(
  url: string,
  method: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(url, { method, headers, redirect: 'manual', signal })
  const body = fieldsOf(await readJson(response, MAX_BYTES))
  const header = response.headers.get(X402.PAYMENT_REQUIRED_HEADER)
  const offer = fieldsOf(X402.PaymentRequired.fromResponse({ header, body }))
  return { status: response.status, headers: response.headers, body, offer }
}

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
