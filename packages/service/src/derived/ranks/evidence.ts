// Which votes and findings an agent's rank rests on. Pure: whoever simulates a market chooses with the same functions.
import { dayOf, FINDINGS_OF_EACH, inflate, VOTES_OF_PAIR } from '@referrer/ranking'

export type Kind = 'vote' | 'confirmed' | 'contradicted'

/** A vote or a finding that counts, or could. */
export interface Piece {
  /** The author, under whom it earned this, and the type of the product by the chain's number. */
  agentId: bigint
  owner: Buffer
  type: number
  kind: Kind
  /** The record of the review. */
  reviewId: bigint
  product: string
  /** Of a vote; empty and null: a finding. */
  voterOwner: Buffer
  voterAgentId: bigint | null
  /** The ballot, or the finding. */
  source: bigint
  weight: number
  happenedAt: Date
}

type Vote = Pick<Piece, 'reviewId' | 'source' | 'happenedAt'>
type Finding = Pick<Piece, 'product' | 'source'>

/** Of the votes of one owner for one author under one owner, on products of one type. */
export const votesThatCount = <V extends Vote>(votes: readonly V[]): V[] =>
  newest(votes, isNewerVote, ({ reviewId }) => reviewId, VOTES_OF_PAIR)

/** Of the findings of one outcome for an author under one owner, on products of one type. */
export const findingsThatCount = <F extends Finding>(findings: readonly F[]): F[] =>
  newest(
    findings,
    (a, b) => a.source > b.source,
    ({ product }) => product,
    FINDINGS_OF_EACH,
  )

const isNewerVote = (a: Vote, b: Vote): boolean => {
  const later = a.happenedAt.getTime() - b.happenedAt.getTime()
  if (later !== 0) return later > 0
  return a.source === b.source ? a.reviewId > b.reviewId : a.source > b.source
}

/** One about each thing, so many at most. */
function newest<T>(
  all: readonly T[],
  isNewer: (a: T, b: T) => boolean,
  about: (piece: T) => unknown,
  most: number,
): T[] {
  const sorted = all.toSorted((a, b) => (isNewer(a, b) ? -1 : 1))
  const chosen = new Map<unknown, T>()
  for (const piece of sorted) {
    if (chosen.size === most) break
    if (!chosen.has(about(piece))) chosen.set(about(piece), piece)
  }
  return [...chosen.values()]
}

/** What is chosen from together. */
export type Group = Pick<Piece, 'agentId' | 'owner' | 'type' | 'kind' | 'voterOwner'>

const groupOf = ({ agentId, owner, type, kind, voterOwner }: Group): string =>
  [agentId, owner.toString('hex'), type, kind, voterOwner.toString('hex')].join('/')

export const thatCount = (group: Group, pieces: readonly Piece[]): Piece[] =>
  group.kind === 'vote' ? votesThatCount(pieces) : findingsThatCount(pieces)

export const isFull = (group: Group, chosen: readonly Piece[]): boolean =>
  chosen.length === (group.kind === 'vote' ? VOTES_OF_PAIR : FINDINGS_OF_EACH)

/** A group in which something may have changed. */
export interface Choice extends Group {
  before: Piece[]
  /**
   * What to choose from now: what counted before and still holds, and what was found. Everything else is older than something here that
   * counts in its place; unless something was lost, which makes room for the older.
   */
  candidates: Piece[]
  isOpen: boolean
}

/** Sorts what counted, and what was found to hold, into the groups in which something may have changed. */
export function choices(counted: readonly (Piece & { holds: boolean })[], found: readonly Piece[]): Choice[] {
  const all = new Map<string, Choice>()
  const choiceOf = (piece: Piece): Choice => {
    const key = groupOf(piece)
    let choice = all.get(key)
    if (!choice) {
      const { agentId, owner, type, kind, voterOwner } = piece
      choice = { agentId, owner, type, kind, voterOwner, before: [], candidates: [], isOpen: false }
      all.set(key, choice)
    }
    return choice
  }
  for (const piece of counted) {
    const choice = choiceOf(piece)
    choice.before.push(piece)
    if (piece.holds) choice.candidates.push(piece)
    else choice.isOpen = true
  }
  for (const piece of found) choiceOf(piece).candidates.push(piece)
  return [...all.values()]
}

export interface Change {
  gone: Piece[]
  come: Piece[]
}

export function changesOf(chosen: readonly { before: readonly Piece[]; after: readonly Piece[] }[]): Change {
  const without = (pieces: readonly Piece[], others: readonly Piece[]) =>
    pieces.filter((piece) => !others.some((other) => isSame(piece, other)))
  return {
    gone: chosen.flatMap(({ before, after }) => without(before, after)),
    come: chosen.flatMap(({ before, after }) => without(after, before)),
  }
}

/** Of two of one group. What a ballot or a finding says of a review never changes. */
const isSame = (a: Piece, b: Piece): boolean => a.source === b.source && a.reviewId === b.reviewId

/** The sums of an agent under an owner, in one type. */
export interface Totals {
  agentId: bigint
  owner: Buffer
  type: number
  gain: bigint
  loss: bigint
  pieces: number
}

/** What a change adds to the sums. */
export function totalsOf({ gone, come }: Change): Totals[] {
  const all = new Map<string, Totals>()
  const add = (sign: 1 | -1) => (piece: Piece) => {
    const { agentId, owner, type, kind, weight, happenedAt } = piece
    const key = [agentId, owner.toString('hex'), type].join('/')
    const totals = all.get(key) ?? { agentId, owner, type, gain: 0n, loss: 0n, pieces: 0 }
    totals[kind === 'contradicted' ? 'loss' : 'gain'] += BigInt(sign) * inflate(weight, dayOf(happenedAt))
    totals.pieces += sign
    all.set(key, totals)
  }
  gone.forEach(add(-1))
  come.forEach(add(1))
  return [...all.values()]
}
