// An answer that is kept, to be given again to the payment that bought it.
import { Base64 } from '@referrer/protocol'

/** As it can be written as JSON. */
export interface Answer {
  status: number
  statusText: string
  headers: [string, string][]
  /** In base64url. */
  body: string
}

const MAX_BODY_BYTES = 65_536

/** What to keep of an answer that is about to be sent: nothing of one that is long, or a stream whose length nobody knows. */
export async function keptOf(response: Response): Promise<Answer | undefined> {
  const { headers, status, statusText } = response
  const isJson = /^application\/(?:[^;]+\+)?json\b/i.test(headers.get('content-type') ?? '')
  const length = headers.get('content-length')
  const isShort = response.body === null || isJson || (length !== null && Number(length) <= MAX_BODY_BYTES)
  if (!isShort) return undefined
  try {
    const body = new Uint8Array(await response.clone().arrayBuffer())
    if (body.length > MAX_BODY_BYTES) return undefined
    return { status, statusText, headers: [...headers], body: Base64.encode(body, 'url') }
  } catch {
    // It breaks off: whoever reads it will see.
    return undefined
  }
}

export function answerAgain({ status, statusText, headers, body }: Answer): Response {
  const hasBody = ![204, 205, 304].includes(status)
  const bytes = hasBody ? Base64.decodeUrl(body, 2 * MAX_BODY_BYTES) : null
  return new Response(bytes, { status, statusText, headers })
}
