// What people type: names, prices, rates, addresses.
import * as Listing from '@referrer/client/chain'
import { Ids, Money, ProtocolError } from '@referrer/protocol'
import { type Address, getAddress, isAddress, maxUint64 } from 'viem'
import { ShopError } from './report.ts'

const MOST_NAME_CHARS = 200
// Line breaks, other control characters, and those that reverse the direction of text.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

export function parseName(text: string): string {
  const name = text.trim()
  if (name === '' || name.length > MOST_NAME_CHARS || UNPRINTABLE.test(name)) {
    throw new ShopError(`the name must be 1 to ${MOST_NAME_CHARS} characters without control characters`)
  }
  return name
}

/** USDC as decimal text, to base units. */
export function parsePrice(text: string): bigint {
  const refuse = (why: string) => new ShopError(`the price must be USDC such as 0.05, ${why}`)
  let price: bigint
  try {
    price = Money.parse(text)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw refuse(`not "${text}": digits, a point, and at most six digits after it`)
  }
  if (price <= 0n || price > maxUint64) throw refuse(`above 0, not "${text}"`)
  return price
}

/** A percentage with at most two decimals, to basis points. */
export function parsePercent(text: string): number {
  const bps = Listing.parsePercent(text)
  if (bps === undefined) {
    throw new ShopError(`the commission must be a percentage from 0 to 100 such as 10 or 7.5, not "${text}"`)
  }
  return bps
}

export const showPercent = (bps: number) => `${bps / 100} % (${bps} bps)`

export function parseWebUrl(text: string, what: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new ShopError(`${what} must be an http or https URL without a password, not "${text}"`)
  }
  return text
}

/** Where a registration file is: an address of plain http is not read by the market. */
export function parseFileUrl(text: string, what: string): string {
  if (/^(?:https|ipfs):\/\/\S+$/.test(text) && URL.canParse(text)) return text
  throw new ShopError(`${what} must be an https or ipfs address, not "${text}"`)
}

export function parseAddress(text: string, what: string): Address {
  if (!isAddress(text, { strict: false }) || /^0x0{40}$/.test(text)) {
    throw new ShopError(
      `${what} must be an address such as 0x70997970C51812dc3A010C7d01b50e0d17dc79C8, not "${text}"`,
    )
  }
  return getAddress(text.toLowerCase())
}

export function parseMerchantId(text: string): number {
  try {
    return Ids.parse(text, '--merchant-id')
  } catch (error) {
    throw error instanceof ProtocolError ? new ShopError(error.message) : error
  }
}

/** How a product is called in the project file and on the command line: "Jokes of the day" is jokes-of-the-day. */
export function slugOf(name: string): string {
  const slug = Listing.slugOf(name)
  if (slug === '') throw new ShopError(`the name must have a letter or a digit, not "${name}"`)
  return slug
}
