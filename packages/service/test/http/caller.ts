// A caller of the service over real HTTP, with an independent idea of how requests are signed.
import { concat, type Hex, keccak256, type LocalAccount, numberToHex, stringToHex, toHex } from 'viem'

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** Undefined when the answer is no JSON. */
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
  /** Unix seconds; left out: a moment of the last half minute, another one each time, so that no two requests are the same. */
  timestamp?: number
}

export type Caller = (method: string, path: string, ask?: Ask) => Promise<Answer>

let asked = 0

export function callerOf(baseUrl: string): Caller {
  return async (method, path, { as, token, body, headers = {}, timestamp } = {}) => {
    const bytes =
      body === undefined || typeof body === 'string' || body instanceof Uint8Array
        ? body
        : JSON.stringify(body)
    const at = timestamp ?? Math.floor(Date.now() / 1_000) - (asked++ % 30)
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(as && (await signatureHeaders(as, (bytes ?? '') as string | Uint8Array, at))),
        ...headers,
      },
      ...(bytes !== undefined && { body: bytes as string }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parsed(text) }
  }
}

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
