// The routes of the market that a shop's owner uses.
import { RequestSignature } from '@referrer/protocol'
import type { LocalAccount } from 'viem'
import { ShopError } from './report.ts'

const LONGEST_MS = 30_000
const SECOND_MS = 1_000

/** A status of 400 or above; `error` is the text that the interface fixes. */
export class MarketRefusal extends Error {
  override readonly name = 'MarketRefusal'
  readonly status: number
  readonly error: string
  readonly detail: string | undefined

  constructor(
    what: string,
    status: number,
    { error = `status ${status}`, detail }: { error?: string; detail?: string },
  ) {
    super(`the market refused ${what}: ${error}${detail ? ` (${detail})` : ''}`)
    this.status = status
    this.error = error
    this.detail = detail
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
  async function once<T>(method: 'GET' | 'POST', path: string, body?: object, token?: string): Promise<T> {
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
      // A redirect would hand the signature to whom it leads.
      redirect: 'manual',
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

  /** Two equal requests within a second have one signature, and the market takes the second one for a copy. */
  async function call<T>(...request: Parameters<typeof once>): Promise<T> {
    try {
      return await once<T>(...request)
    } catch (error) {
      if (!(error instanceof MarketRefusal) || error.detail !== 'replayed request') throw error
      await new Promise((resolve) => setTimeout(resolve, SECOND_MS))
      return once<T>(...request)
    }
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

const TRY_MS = 500
const MOST_TRIES = 60

/** What was put on the chain a moment ago is not found before the market has read the block. */
export async function onceIndexed<T>(read: () => Promise<T>, problem: string): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof MarketRefusal) || error.status !== 404) throw error
      if (tries === MOST_TRIES) throw new ShopError(problem)
      await new Promise((resolve) => setTimeout(resolve, TRY_MS))
    }
  }
}
