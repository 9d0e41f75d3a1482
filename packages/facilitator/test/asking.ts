import { RequestSignature } from '@referrer/protocol'
import type { LocalAccount } from 'viem'

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** Undefined when the answer is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  body: any
}

export interface Ask {
  /** An object is sent as JSON; a string or bytes as they are. */
  body?: unknown
  /** Signs the request. */
  as?: LocalAccount
  /** Unix seconds of that signature; left out: now. */
  timestamp?: number
  headers?: Record<string, string>
}

/** To any facilitator. */
export async function send(
  url: string,
  method: string,
  path: string,
  { body, as, timestamp = Math.floor(Date.now() / 1_000), headers = {} }: Ask = {},
): Promise<Answer> {
  const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
  const bytes = (isRaw ? body : JSON.stringify(body)) as string | Uint8Array<ArrayBuffer> | undefined
  const signature = as && RequestSignature.serialize(await RequestSignature.sign(as, bytes ?? '', timestamp))
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(bytes !== undefined && { 'content-type': 'application/json' }), ...signature, ...headers },
    ...(bytes !== undefined && { body: bytes }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
