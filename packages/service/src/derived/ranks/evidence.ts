// Chooses the votes and findings that an agent's rank is computed from. These functions are pure, so that the
// simulation uses the same ones.
import { dayOf, FINDINGS_OF_EACH, inflate, VOTES_OF_PAIR } from '@referrer/ranking'

export type Kind = 'vote' | 'confirmed' | 'contradicted'

/** A vote or a finding that counts, or could. */
export interface Piece {
  /** The author, the owner that the author had, and the number of the product type. */
  agentId: bigint
  owner: Buffer
  type: number
  kind: Kind
  /** The internal id of the review. */
  reviewId: bigint
  product: string
  /** Empty and null for a finding. */
  voterOwner: Buffer
  voterAgentId: bigint | null
  /** The id of the ballot or of the finding. */
  source: bigint
  weight: number
  happenedAt: Date
}

type Vote = Pick<Piece, 'reviewId' | 'source' | 'happenedAt'>
type Finding = Pick<Piece, 'product' | 'source'>

/** Chooses among the votes of one owner for one author under one owner, on products of one type. */
export const votesThatCount = <V extends Vote>(votes: readonly V[]): V[] =>
  newest(votes, isNewerVote, ({ reviewId }) => reviewId, VOTES_OF_PAIR)

/** Chooses among the findings of one outcome for an author under one owner, on products of one type. */
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

/** The newest `most` pieces, only one for each value of `about`. */
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

/** The pieces of evidence that compete with each other. */
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
   * The pieces to choose from: those that counted and are still valid, and those just found. Older pieces cannot win
   * against these, unless one was lost (`isOpen`); then the group is filled again from the records.
   */
  candidates: Piece[]
  isOpen: boolean
}

/** Sorts the pieces that counted, and the valid ones just found, into groups. */
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

/** Compares two pieces of the same group. A ballot or finding never changes what it says about a review. */
const isSame = (a: Piece, b: Piece): boolean => a.source === b.source && a.reviewId === b.reviewId

/** The totals of an agent under one owner, for one product type. */
export interface Totals {
  agentId: bigint
  owner: Buffer
  type: number
  gain: bigint
  loss: bigint
  pieces: number
}

/** The differences that a change adds to the totals. */
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
