// The routes of the market that a shop's owner uses.
import { RequestSignature } from '@referrer/protocol'
import type { LocalAccount } from 'viem'
import { ShopError } from './report.ts'

const LONGEST_MS = 30_000

/** A status of 400 or above; `error` is the text that the interface fixes. */
export class MarketRefusal extends Error {
  override readonly name = 'MarketRefusal'
  readonly status: number
  readonly error: string

  constructor(
    what: string,
    status: number,
    { error = `status ${status}`, detail }: { error?: string; detail?: string },
  ) {
    super(`the market refused ${what}: ${error}${detail ? ` (${detail})` : ''}`)
    this.status = status
    this.error = error
  }
}

export interface MarketApi {
  get<T>(path: string, token?: string): Promise<T>
  post<T>(path: string, body?: object, token?: string): Promise<T>
  /** The token of a new session. */
  signIn(): Promise<string>
}

/** The requests are signed by the account, or carry a session's token. */
export function marketApi(marketUrl: string, account: LocalAccount): MarketApi {
  async function call<T>(method: 'GET' | 'POST', path: string, body?: object, token?: string): Promise<T> {
    const text = body && JSON.stringify(body)
    const headers = token
      ? { authorization: `Bearer ${token}` }
      : RequestSignature.serialize(
          await RequestSignature.sign(account, text ?? '', Math.floor(Date.now() / 1_000)),
        )
    const response = await fetch(`${marketUrl}${path}`, {
      method,
      headers,
      ...(text !== undefined && { body: text }),
      signal: AbortSignal.timeout(LONGEST_MS),
    }).catch((error: unknown) => {
      throw new ShopError(`the market at ${marketUrl} does not answer: is it running? Then run this again`, {
        cause: error,
      })
    })
    const answer = await response.json().catch(() => ({}))
    if (!response.ok) throw new MarketRefusal(`${method} ${path}`, response.status, answer as object)
    return answer as T
  }

  return {
    get: (path, token) => call('GET', path, undefined, token),
    post: (path, body, token) => call('POST', path, body, token),
    async signIn() {
      const domain = new URL(marketUrl).host
      const { token } = await call<{ token: string }>('POST', '/v1/auth/session', { domain })
      return token
    },
  }
}
