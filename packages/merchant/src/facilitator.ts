import { RequestSignature, X402 } from '@referrer/protocol'
import { USED } from './answers.ts'
import { readJson } from './body.ts'
import type { MarketSettings } from './config.ts'
import type { Payment } from './payment.ts'
import { type TakeBack, takeBackOf } from './take-back.ts'
import type { Trail } from './trail.ts'

/** What became of a payment that was sent to the facilitator. */
export type Outcome =
  /** `amount`: as the chain shows it; left out where it is what was asked for. */
  | { kind: 'settled'; transaction: string; payer: string | undefined; amount?: bigint }
  /** The authorisation was used before, by this transaction if it is known. */
  | { kind: 'used'; transaction: string | undefined; message: string; takeBack?: TakeBack | undefined }
  | { kind: 'refused'; reason: string; message: string; takeBack?: TakeBack | undefined }
  /** Nothing was sent to the chain, and the same payment may be tried again. */
  | { kind: 'not now'; message: string; takeBack?: TakeBack | undefined }
  /** The facilitator does not take requests of this endpoint: nothing was settled. */
  | { kind: 'turned away'; message: string }
  /** The payment may have been settled, or may still be: until this time (unix seconds), where it is known. */
  | {
      kind: 'unsure'
      message: string
      until?: number | undefined
      takeBack?: TakeBack | undefined
      /** The facilitator says so itself: its record would say the same. */
      isTold?: true
    }

export interface SettlementRecord {
  status: 'pending' | 'settled' | 'failed' | 'unknown'
  transaction: string | undefined
  message: string | undefined
  until: number | undefined
  takeBack: TakeBack | undefined
}

const STATUSES = ['pending', 'settled', 'failed', 'unknown'] as const
const RECORD_TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 65_536
const MAX_MESSAGE_CHARS = 500

type Fields = Record<string, unknown>
type Requirements = X402.PaymentRequirements.PaymentRequirements

export type Verified =
  | { isValid: true; payer: string | undefined }
  | { isValid: false; reason: string; message: string; payer: string | undefined }

export function facilitatorOf(settings: MarketSettings) {
  const { facilitatorUrl, chainId, signer, timeoutMs, fetch, now } = settings

  /** Returns `unsure` whenever the money may have moved, and never throws. */
  async function settle(payment: Payment, requirements: Requirements, trail: Trail = {}): Promise<Outcome> {
    let request: RequestInit
    try {
      request = await requestOf(payment, requirements, trail)
    } catch (error) {
      return { kind: 'turned away', message: `signingKey does not sign: ${reasonOf(error)}` }
    }
    const path = payment.credential === undefined ? '/settle' : '/mpp/charge'
    try {
      return outcomeOf(path, await ask(`${facilitatorUrl}${path}`, timeoutMs, request))
    } catch (error) {
      return { kind: 'unsure', message: `no answer to ${path}: ${reasonOf(error)}` }
    }
  }

  /** Whether the payment would settle. Throws where the facilitator does not say. */
  async function verify(payment: Payment, requirements: Requirements): Promise<Verified> {
    const request = await requestOf(payment, requirements)
    const { status, json } = await ask(`${facilitatorUrl}/verify`, timeoutMs, request)
    const { isValid, invalidReason, invalidMessage, payer } = fieldsOf(json)
    if (status === 200 && isValid === true) return { isValid, payer: textOf(payer) }
    if (status !== 200 || isValid !== false) {
      throw new Error(`/verify answered ${status}${inWords(json)}: ${adviceOn(status)}`)
    }
    const reason = textOf(invalidReason) ?? 'invalid_payment'
    return { isValid, reason, message: textOf(invalidMessage) ?? reason, payer: textOf(payer) }
  }

  /** What can be paid at this facilitator. Throws where it does not say. */
  async function supported(): Promise<unknown> {
    const { status, json } = await ask(`${facilitatorUrl}/supported`, timeoutMs, {})
    if (status === 200) return json
    throw new Error(`${facilitatorUrl}/supported answered ${status}: ${adviceOn(status)}`)
  }

  /** The key, if there is one, signs the exact bytes that are sent. */
  async function requestOf(
    payment: Payment,
    requirements: Requirements,
    trail: Trail = {},
  ): Promise<RequestInit> {
    const body =
      payment.credential === undefined
        ? `{"x402Version":${X402.VERSION},"paymentPayload":${payment.json},"paymentRequirements":${JSON.stringify(requirements)}}`
        : chargeOf(payment, requirements)
    const headers = { ...trail, 'content-type': 'application/json', ...(await signatureOf(body)) }
    return { method: 'POST', headers, body }
  }

  /** The price and the product are ours, whatever the credential says. */
  function chargeOf(
    { attributionToken, buyerAgentId, credential }: Payment,
    { amount, extra }: Requirements,
  ) {
    const { productId } = extra
    return JSON.stringify({ attributionToken, buyerAgentId, chainId, amount, productId, credential })
  }

  async function signatureOf(body: string): Promise<Record<string, string>> {
    if (!signer) return {}
    return RequestSignature.serialize(await RequestSignature.sign(signer, body, Math.floor(now() / 1_000)))
  }

  /** What the facilitator has recorded about a payment; undefined where it does not say. */
  async function recordOf({ payer, nonce }: Payment): Promise<SettlementRecord | undefined> {
    if (!payer || !nonce) return undefined
    try {
      const url = `${facilitatorUrl}/settlements/${payer}/${nonce}?chain_id=${chainId}`
      const { status: code, json } = await ask(url, RECORD_TIMEOUT_MS, {})
      const { status, transaction, message, until, take_back } = fieldsOf(json)
      const known = STATUSES.find((one) => one === status)
      if (code !== 200 || !known) return undefined
      const takeBack = takeBackOf(take_back)
      return {
        status: known,
        transaction: hashOf(transaction),
        message: textOf(message),
        until: timeOf(until),
        takeBack,
      }
    } catch {
      return undefined
    }
  }

  async function ask(url: string, timeout: number, init: RequestInit) {
    // A redirect would repeat the payment elsewhere, or lose its body.
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeout) })
    return { status: response.status, json: await readJson(response, MAX_ANSWER_BYTES) }
  }

  return { settle, verify, supported, recordOf }
}

function outcomeOf(path: string, { status, json }: { status: number; json: unknown }): Outcome {
  const fields = fieldsOf(json)
  const { success, transaction, payer, errorReason, errorMessage, retryable, pending } = fields
  if (status >= 300 && status < 500 && status !== 408) {
    const message = `${path} answered ${status}${inWords(json)}: ${adviceOn(status)}`
    return { kind: 'turned away', message }
  }
  // Only the fields that decide are required: a missing field that nobody needs must not make a settled payment look lost.
  const hash = hashOf(transaction)
  if (status === 200 && success === true && hash) {
    return { kind: 'settled', transaction: hash, payer: textOf(payer) }
  }
  if (status !== 200 || success !== false) {
    return { kind: 'unsure', message: `${path} answered ${status} with nothing that tells the outcome` }
  }

  const reason = textOf(errorReason) ?? 'settle_failed'
  const message = textOf(errorMessage) ?? reason
  const takeBack = takeBackOf(fields.take_back)
  if (pending === true)
    return { kind: 'unsure', message, until: timeOf(fields.until), takeBack, isTold: true }
  if (message.startsWith(USED)) return { kind: 'used', transaction: hash, message, takeBack }
  if (retryable === true && reason === 'settle_failed') return { kind: 'not now', message, takeBack }
  return { kind: 'refused', reason, message, takeBack }
}

function inWords(json: unknown): string {
  const { error, detail } = fieldsOf(json)
  const said = [error, detail].map(textOf).filter(Boolean).join(': ')
  return said && ` (${said})`
}

function adviceOn(status: number): string {
  if (status < 400) return 'set facilitatorUrl to where it redirects to'
  if (status === 401) return 'check the clock of this machine and signingKey'
  if (status === 403) return 'grant SETTLEMENT_SIGNER_ROLE of your merchant to the address of signingKey'
  if (status === 429) return 'it is asked too often'
  return 'check facilitatorUrl'
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}
const timeOf = (value: unknown) => (Number.isSafeInteger(value) ? (value as number) : undefined)

const hashOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const textOf = (value: unknown) =>
  typeof value === 'string' && value !== '' ? value.slice(0, MAX_MESSAGE_CHARS) : undefined
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
