// The payload of a purchase intent. It is validated and stored unchanged.
import { ProtocolError, RefLink } from '@referrer/protocol'
import { MarketError } from '../../kit/market-error.ts'

/** Size limit in bytes of JSON. */
const LARGEST = 16 * 1_024
/** Length limit of the idempotency key in characters (code points). */
export const LONGEST_KEY = 200
const NAMES = ['ref_link', 'max_amount', 'idempotency_key', 'review']
const DECIMAL = /^(0|[1-9]\d{0,77})$/

/** Validates a payload and returns it as JSON, with its keys in the order in which they were sent. */
export function purchaseText(payload: Readonly<Record<string, unknown>>): string {
  const { ref_link, max_amount, idempotency_key, review } = payload
  if (Object.keys(payload).some((name) => !NAMES.includes(name))) {
    throw refusal(`payload has nothing but ${NAMES.join(', ')}`)
  }
  checkLink(ref_link)
  if (!isAmount(max_amount)) {
    throw refusal('payload.max_amount must be base units: an integer or a decimal string')
  }
  if (!isKey(idempotency_key)) {
    throw refusal(`payload.idempotency_key must be a text of 1 to ${LONGEST_KEY} characters`)
  }
  if (review !== undefined && typeof review !== 'boolean') {
    throw refusal('payload.review must be true or false')
  }
  const text = JSON.stringify(payload)
  if (Buffer.byteLength(text) > LARGEST) throw refusal(`payload too large: must be <= ${LARGEST} bytes`)
  return text
}

function checkLink(link: unknown): void {
  try {
    RefLink.parse(link)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw refusal(`payload.ref_link: ${error.message}`)
  }
}

const isAmount = (amount: unknown) =>
  typeof amount === 'string' ? DECIMAL.test(amount) : Number.isSafeInteger(amount) && Number(amount) >= 0

const isKey = (key: unknown) =>
  typeof key === 'string' && key !== '' && key.length <= 2 * LONGEST_KEY && [...key].length <= LONGEST_KEY

const refusal = (text: string) => new MarketError('invalid input', text)
