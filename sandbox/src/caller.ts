import { RequestSignature } from '@referrer/protocol'
import type { LocalAccount, TypedDataDefinition } from 'viem'

/** Calls the service's routes for any account. */
export interface Caller {
  get<T>(as: LocalAccount, path: string): Promise<T>
  post<T>(as: LocalAccount, path: string, body?: object): Promise<T>
  /** Both steps of a call that the owner of an agent signs for: the commitment of step 1 as it came. */
  inTwoSteps<T>(as: LocalAccount, path: string, body: object): Promise<T>
  /** The token of a new session. */
  signIn(as: LocalAccount): Promise<string>
  /** Without a signature, on a session's token. */
  postWith<T>(token: string, path: string, body?: object): Promise<T>
}

type Method = 'GET' | 'POST'
type Step1 = { commitment: TypedDataDefinition; nonce: string; expiry: number }

/** A refusal is an error: every request of the sandbox must succeed. `chainId`: left out, the market's first chain. */
export function callerOf(baseUrl: string, chainId?: number): Caller {
  const onChain = chainId === undefined ? '' : `?chain_id=${chainId}`

  async function call<T>(
    method: Method,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<T> {
    const init = { method, headers, ...(body !== undefined && { body }) }
    const response = await fetch(`${baseUrl}${path}${onChain}`, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} was refused: ${response.status} ${text}`)
    return JSON.parse(text)
  }

  async function signed<T>(as: LocalAccount, method: Method, path: string, body?: object): Promise<T> {
    const text = body && JSON.stringify(body)
    const { TIMESTAMP_HEADER, SIGNATURE_HEADER } = RequestSignature
    const { timestamp, signature } = await RequestSignature.sign(
      as,
      text ?? '',
      Math.floor(Date.now() / 1_000),
    )
    const headers = { [TIMESTAMP_HEADER]: String(timestamp), [SIGNATURE_HEADER]: signature }
    return call(method, path, headers, text)
  }

  return {
    get: (as, path) => signed(as, 'GET', path),
    post: (as, path, body) => signed(as, 'POST', path, body),
    async inTwoSteps(as, path, body) {
      const { commitment, nonce, expiry } = await signed<Step1>(as, 'POST', `${path}/step1`, body)
      const agent_sig = await as.signTypedData(commitment)
      return signed(as, 'POST', `${path}/step2`, { ...body, nonce, expiry, agent_sig })
    },
    async signIn(as) {
      const domain = new URL(baseUrl).host
      const { token } = await signed<{ token: string }>(as, 'POST', '/v1/auth/session', { domain })
      return token
    },
    postWith: (token, path, body) =>
      call('POST', path, { authorization: `Bearer ${token}` }, body && JSON.stringify(body)),
  }
}
