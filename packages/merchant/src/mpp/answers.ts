// What a buyer gets who paid by the Payment scheme: the answers of any endpoint, in the forms of that protocol.
import { Mpp, X402 } from '@referrer/protocol'
import { isOwn } from '../answers.ts'

/** Why a 402 takes no payment. Other statuses have no type of their own: none of them asks to pay again. */
export type Problem = 'malformed-credential' | 'invalid-challenge' | 'payment-expired' | 'verification-failed'

const TITLES: Record<number, string> = {
  400: 'Bad Request',
  402: 'Payment Required',
  409: 'Conflict',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** Our refusals as problem details (RFC 9457); they keep their status and their other fields. */
export async function asProblem(response: Response, problem: Problem): Promise<Response> {
  if (!isOwn(response)) return response
  const { status } = response
  // Where a buyer by x402 sends its payment, this one sends its credential.
  const text = (await response.text()).replaceAll(X402.PAYMENT_SIGNATURE_HEADER, Mpp.CREDENTIAL_HEADER)
  const body = JSON.parse(text) as { error: string }
  const type = status === 402 ? `https://paymentauth.org/problems/${problem}` : 'about:blank'
  const headers = new Headers(response.headers)
  headers.set('content-type', 'application/problem+json')
  return new Response(
    JSON.stringify({ type, title: TITLES[status] ?? 'Error', status, detail: body.error, ...body }),
    { status, headers },
  )
}

/** What was sold, with the protocol's receipt. An error never has one. */
export function withReceipt(
  response: Response,
  { challengeId, chainId, at }: { challengeId: string; chainId: number; at: number },
): Response {
  const settled = response.headers.get(X402.PAYMENT_RESPONSE_HEADER)
  if (!response.ok || settled === null) return response
  const { transaction: reference } = X402.decodeHeader(settled) as { transaction: string }
  const receipt = {
    method: Mpp.METHOD,
    challengeId,
    reference,
    status: 'success',
    timestamp: new Date(at).toISOString(),
    chainId,
  }
  response.headers.set(Mpp.RECEIPT_HEADER, X402.encodeHeader(receipt, 'url'))
  return response
}
