// The `payment-identifier` extension of x402: a buyer names its purchase, and a repeated request gets the same answer without paying again.
import { type Hex, keccak256, stringToBytes } from 'viem'
import { refuse } from '../refuse.ts'

/**
 * Lets buyers repeat a purchase under the identifier that they gave it.
 *
 * @example
 * ```ts
 * import type { PaymentIdsConfig } from '@referrer/merchant'
 *
 * export const paymentIds: PaymentIdsConfig = { required: true }
 * ```
 */
export interface PaymentIdsConfig {
  /** Payments without an identifier get 400: false. */
  required?: boolean
}

/** What a buyer asked for under an identifier. */
export interface Asked {
  /** Of chain, payer and identifier: nobody reaches the answers of another payer. */
  key: string
  /** Of the whole payment. */
  fingerprint: Hex
  /** Of what was asked for, and of the terms: the same when the buyer has signed a new authorisation for it. */
  purpose: Hex
}

export interface Entry extends Asked {
  /** Unix seconds. */
  until: number
  /** A request is being served under it now. */
  isUnderWay: boolean
  answer?: Answer | undefined
  transaction?: string
  /** Lets others use the identifier again. */
  release(): Promise<void>
}

export interface Answer {
  status: number
  statusText: string
  headers: [string, string][]
  body: Uint8Array<ArrayBuffer>
}

/** How long an identifier, and the answer under it, are remembered. */
export const KEPT_SECONDS = 3_600
const IDENTIFIER = /^[a-zA-Z0-9_-]{16,128}$/
const MAX_BODY_BYTES = 65_536
const MAX_BYTES = 16 * 1_024 * 1_024
const MAX_ENTRIES = 10_000

/** Exactly what the official package declares. */
export const identifierDeclaration = (required: boolean): object => ({
  info: { required },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
})

export function readPaymentIds(config: PaymentIdsConfig): { isRequired: boolean } {
  const { required = false } = config
  return typeof required === 'boolean'
    ? { isRequired: required }
    : refuse('paymentIds.required', 'true or false')
}

/** Says what is wrong with an identifier, or with the lack of one. */
export function objectionToId(id: unknown, isRequired: boolean): string | undefined {
  if (id === undefined) return isRequired ? 'this shop wants a payment identifier' : undefined
  if (typeof id === 'string' && IDENTIFIER.test(id)) return undefined
  return 'a payment identifier has 16 to 128 letters, digits, hyphens and underscores'
}

/** Method, path, query and the first 64 KiB of the body, and the terms; the request can still be read. */
export async function purposeOf(request: Request, terms: readonly string[]): Promise<Hex> {
  const hash = keccak256(request.body === null ? new Uint8Array() : await beginning(request.clone()))
  const { pathname, search } = new URL(request.url)
  return keccak256(stringToBytes(JSON.stringify([request.method, `${pathname}${search}`, hash, ...terms])))
}

async function beginning({ body }: Request): Promise<Uint8Array> {
  const reader = body?.getReader()
  const read = new Uint8Array(MAX_BODY_BYTES)
  let length = 0
  while (length < MAX_BODY_BYTES) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) break
    read.set(value.subarray(0, MAX_BODY_BYTES - length), length)
    length += value.length
  }
  // Whoever sends more is not waited for.
  reader?.cancel().catch(() => {})
  return read.subarray(0, Math.min(length, MAX_BODY_BYTES))
}

/** Answers by identifier, bounded in number and in bytes: the oldest go first. */
export function createAnswers() {
  const entries = new Map<string, Entry>()
  let bytes = 0

  function forget(key: string): void {
    bytes -= sizeOf(entries.get(key)?.answer)
    entries.delete(key)
  }

  function remember(entry: Entry): void {
    forget(entry.key)
    entries.set(entry.key, entry)
    bytes += sizeOf(entry.answer)
    for (const key of entries.keys()) {
      if (entries.size <= MAX_ENTRIES && bytes <= MAX_BYTES) return
      forget(key)
    }
  }

  return {
    find(key: string, nowSeconds: number): Entry | undefined {
      const entry = entries.get(key)
      if (entry && entry.until > nowSeconds) return entry
      if (entry) forget(key)
      return undefined
    },
    remember,
    forget,
  }
}

const sizeOf = (answer: Answer | undefined) =>
  answer
    ? answer.body.length + answer.headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
    : 0

/** What to keep of an answer that is about to be sent: nothing of one that is long, or a stream whose length nobody knows. */
export async function keptOf(response: Response): Promise<Answer | undefined> {
  const { headers, status, statusText } = response
  const isJson = /^application\/(?:[^;]+\+)?json\b/i.test(headers.get('content-type') ?? '')
  const length = headers.get('content-length')
  const isShort = response.body === null || isJson || (length !== null && Number(length) <= MAX_BODY_BYTES)
  if (!isShort) return undefined
  try {
    const body = new Uint8Array(await response.clone().arrayBuffer())
    return body.length <= MAX_BODY_BYTES ? { status, statusText, headers: [...headers], body } : undefined
  } catch {
    // It breaks off: whoever reads it will see.
    return undefined
  }
}

export function answerAgain({ status, statusText, headers, body }: Answer): Response {
  const hasBody = ![204, 205, 304].includes(status)
  return new Response(hasBody ? body : null, { status, statusText, headers })
}
