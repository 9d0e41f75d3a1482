// What standing does to ranks: it decides how much votes, opinions and findings weigh, and how much money speaks for
// an author.
import { MILLION, PRIORS, type ProductType } from './rank.ts'

/** With this standing, in millionths, a shop or an owner counts in full. */
const FULL_GROUND = 400_000
const FULL_VOICE = 800_000

const times = (a: number, b: number): number => Math.floor((a * b) / MILLION)

/** How much counts what was bought at a shop of this standing. */
export const groundOf = (shop: number): number =>
  Math.min(MILLION, Math.floor((shop * MILLION) / FULL_GROUND))

/** How much counts what an owner of this standing says. The fifth power: half of it counts a thirty-second. */
export function voiceOf(owner: number): number {
  const part = Math.min(MILLION, Math.floor((owner * MILLION) / FULL_VOICE))
  const square = times(part, part)
  return times(times(square, square), part)
}

/**
 * The standing of a buyer and of the shop on the day. `owner` is null if the owner had bought nothing before: then the
 * shop speaks for it.
 */
export interface Trust {
  owner: number | null
  shop: number
}

/** The size of a purchase as far as it is trusted. Null: nothing is verified, and every purchase is trusted. */
export const trustedSize = (size: number, trust: Trust | null): number =>
  trust ? times(times(size, groundOf(trust.shop)), voiceOf(trust.owner ?? trust.shop)) : size

/** A purchase of more than this many full commissions counts as that many. */
const MOST_COMMISSIONS = 30n

/** What a purchase counts as spending, from what the merchant got for it. */
export function spendingOf(net: bigint, full: bigint): bigint {
  const most = MOST_COMMISSIONS * full
  return net < most ? net : most
}

/**
 * The money that speaks for an author, from what its supporters paid at verified shops, and from the sum of what they
 * spent at each other shop times the standing of the shop: a quarter of that.
 */
export const supportOf = (paid: bigint, spentByStanding: bigint): bigint =>
  paid + spentByStanding / BigInt(4 * MILLION)

/** In base units of the day: the money that speaks for an author, and the commission of its sales at rank 1. */
export interface Cover {
  support: number
  sales: number
}

/** A rank covers further sales of this many full commissions. */
const FURTHER_SALES = 10n
/** Sales of 100 need a support of 126. */
export const SUPPORT_OF_SALES = 1.26

/** The support that covers a rank in full: for all sales, and for further ones of ten full commissions. */
export const neededFor = (sales: number, full: bigint): number =>
  SUPPORT_OF_SALES * (sales + Number(FURTHER_SALES * full))

/** How much of what a rank is above the prior its author's support covers, from 0 to 1. */
export const coverOf = ({ support, sales }: Cover, full: bigint): number =>
  Math.min(1, support / neededFor(sales, full)) ** 2

/** A rank above its prior is lowered to what is covered. */
export function coveredRank(type: ProductType, rank: number, cover: number): number {
  const { gain, loss } = PRIORS[type]
  const prior = gain / (gain + loss)
  return rank <= prior ? rank : prior + (rank - prior) * cover
}
