// Reads what an endpoint tells of itself in its 402, besides the price. Only the seller's own answer is read, so that nobody else can tell
// something about a shop.
import { ProtocolError, X402 } from '@referrer/protocol'
import { type Fields, fieldsOf, listOf } from '../../kit/loose-json.ts'
import { type Declared, declaredIn } from './declared.ts'
import type { Offered } from './price.ts'

/** As it is stored. A part is left out where the endpoint does not tell it, or tells something that is not valid. */
export type Told = {
  /** How it is paid. */
  payment?: Payment
  description?: string
  mimeType?: string
  serviceName?: string
  tags?: string[]
  /** How to call it. */
  bazaar?: Declared
}

type Payment = Pick<X402.PaymentRequirements.PaymentRequirements, 'payTo' | 'maxTimeoutSeconds' | 'extra'>

const MOST_SECONDS = 86_400
const DESCRIPTION = 1_000
const MIME_TYPE = 100
const TOKEN_NAME = 100
/** Official limits of names and tags. */
const NAME = 32
const TAGS = 5

const PRINTABLE = /^[\x20-\x7e]+$/
const MIME = /^[\w.+-]+\/[\w.+-]+(?:;[\x20-\x7e]*)?$/

export function toldIn({ option, required }: Pick<Offered, 'option' | 'required'>): Told {
  const { description, mimeType, serviceName, tags } = fieldsOf(required.resource)
  const payment = paymentIn(option)
  const known = new Set(listOf(tags).filter((tag) => isPrintable(tag, NAME)))
  const bazaar = declaredIn(fieldsOf(required.extensions).bazaar)
  return {
    ...(payment && { payment }),
    ...(isText(description) && { description: description.slice(0, DESCRIPTION).toWellFormed() }),
    ...(isPrintable(mimeType, MIME_TYPE) && MIME.test(mimeType) && { mimeType }),
    ...(isPrintable(serviceName, NAME) && { serviceName }),
    ...(known.size > 0 && { tags: [...known].slice(0, TAGS) }),
    ...(bazaar && { bazaar }),
  }
}

/** Text that Postgres can hold. */
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.isWellFormed() && !value.includes('\0')

const isPrintable = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most && PRINTABLE.test(value)

/** Only the keys of `extra` that buyers need: it may have any others. */
function paymentIn(option: Fields): Payment | undefined {
  try {
    const { payTo, maxTimeoutSeconds, extra } = X402.PaymentRequirements.parse(option)
    const { name, version, authorizationType } = extra
    const isShort = isPrintable(name, TOKEN_NAME) && isPrintable(version, TOKEN_NAME)
    if (!isShort || maxTimeoutSeconds > MOST_SECONDS) return undefined
    return {
      payTo,
      maxTimeoutSeconds,
      extra: { name, version, ...(authorizationType && { authorizationType }) },
    }
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}
