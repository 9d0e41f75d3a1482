import { ProtocolError } from '@referrer/protocol'
import { BaseError } from 'viem'

/** A refusal. Its message is all that the caller sees, and says what to do next. */
export class Refused extends Error {
  override readonly name = 'Refused'
  /** What the caller gets all the same. */
  readonly data: Record<string, unknown> | undefined

  constructor(message: string, data?: Record<string, unknown>) {
    super(message)
    this.data = data
  }
}

export const isExpected = (error: unknown): boolean =>
  error instanceof Refused || error instanceof ProtocolError || error instanceof BaseError

/** One line for a caller. Of a node's errors only the short part: the long one tells its URL, which may hold a secret. */
export function explain(error: unknown): string {
  if (error instanceof Refused || error instanceof ProtocolError) return error.message
  if (error instanceof BaseError) return `the chain cannot be asked: ${shortOf(error)}`
  return `unexpected failure (${error instanceof Error ? error.name : 'no error'}): report it, and look at get_wallet_status before you pay again`
}

export const shortOf = ({ shortMessage, details }: BaseError): string =>
  [shortMessage, details].filter((part) => part && !part.includes('://')).join(' ')
