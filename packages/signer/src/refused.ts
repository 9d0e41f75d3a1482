import { ProtocolError } from '@referrer/protocol'
import { BaseError } from 'viem'

/** An error for the caller, who sees only its message. The message says what to do next. */
export class Refused extends Error {
  override readonly name = 'Refused'
  /** Data that the caller gets in spite of the error. */
  readonly data: Record<string, unknown> | undefined

  constructor(message: string, data?: Record<string, unknown>) {
    super(message)
    this.data = data
  }
}

/** Nothing was paid, and nothing would be by trying again: somebody has to change the order, a limit or the offer first. */
export class NotBought extends Refused {}

/** The shop does not sell this, or not at this price: another product may still be bought. */
export class NotSold extends NotBought {}

/** The shop does not answer now; nothing was signed. */
export class ShopAway extends Refused {}

export const isExpected = (error: unknown): boolean =>
  error instanceof Refused || error instanceof ProtocolError || error instanceof BaseError

/** One line for the caller. Only the short part of a node's error: the long part contains the URL, which may hold a secret. */
export function explain(error: unknown): string {
  if (error instanceof Refused || error instanceof ProtocolError) return error.message
  if (error instanceof BaseError) return `the chain cannot be asked: ${shortOf(error)}`
  return `unexpected failure (${error instanceof Error ? error.name : 'no error'}): report it, and look at get_wallet_status before you pay again`
}

export const shortOf = ({ shortMessage, details }: BaseError): string =>
  [shortMessage, details].filter((part) => part && !part.includes('://')).join(' ')
