import { RequestSignature } from '@referrer/protocol'
import type { LocalAccount } from 'viem'

/** Somebody at the service's door. */
export interface Caller {
  post<T>(as: LocalAccount, path: string, body?: object): Promise<T>
  /** Without a signature, on a session's token. */
  postWith<T>(token: string, path: string): Promise<T>
}

/** A refusal is an error: whatever the sandbox asks for must be possible. */
export function callerOf(baseUrl: string): Caller {
  async function call<T>(path: string, headers: Record<string, string>, body?: string): Promise<T> {
    const init = { method: 'POST', headers, ...(body !== undefined && { body }) }
    const response = await fetch(`${baseUrl}${path}`, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`POST ${path} was refused: ${response.status} ${text}`)
    return JSON.parse(text)
  }
  return {
    async post(as, path, body) {
      const text = body && JSON.stringify(body)
      const { TIMESTAMP_HEADER, SIGNATURE_HEADER } = RequestSignature
      const signed = await RequestSignature.sign(as, text ?? '', Math.floor(Date.now() / 1_000))
      return call(
        path,
        { [TIMESTAMP_HEADER]: String(signed.timestamp), [SIGNATURE_HEADER]: signed.signature },
        text,
      )
    },
    postWith: (token, path) => call(path, { authorization: `Bearer ${token}` }),
  }
}
