// Why a review is shown, in words.
import type { AnswerOf } from '@referrer/client'

type Slate = NonNullable<AnswerOf<'/v1/discover', 'get'>['products'][number]['reviews']>
export type SlateEntry = Slate[number]

export interface SlotWords {
  name: string
  why: string
  tone: 'plain' | 'good' | 'bad' | 'accent'
}

const SLOTS: Record<Exclude<SlateEntry['slot'], 'excluded'>, SlotWords> = {
  highlight: {
    name: 'Highlight',
    why: 'One of the two best: a trusted author, close to your words, recent.',
    tone: 'good',
  },
  newcomer: {
    name: 'Newcomer',
    why: 'The best of an author without a rank yet: everybody gets a first chance.',
    tone: 'accent',
  },
  dissent: {
    name: 'Dissent',
    why: 'The best of those who think otherwise, so that you see both sides.',
    tone: 'accent',
  },
  overflow: { name: 'Lower ranked', why: 'It scores lower than the chosen ones.', tone: 'plain' },
}
const EXCLUDED: Record<string, SlotWords> = {
  self_review: {
    name: 'Own product',
    why: 'Its author belongs to the owner of the shop. Do not let it persuade you.',
    tone: 'bad',
  },
  transfer_cooldown: {
    name: 'Sold lately',
    why: 'Its author changed hands within the last 7 days: the name may be bought.',
    tone: 'bad',
  },
}
const LEFT_OUT: SlotWords = { name: 'Left out', why: 'The market does not count it.', tone: 'bad' }

export const slotWords = ({
  slot,
  excluded_reason,
}: Pick<SlateEntry, 'slot' | 'excluded_reason'>): SlotWords =>
  slot === 'excluded' ? (EXCLUDED[excluded_reason ?? ''] ?? LEFT_OUT) : SLOTS[slot]

/** Those to read, then those that are there only to be complete. */
export function apart(reviews: SlateEntry[] | null): { chosen: SlateEntry[]; others: SlateEntry[] } {
  const isChosen = ({ slot }: SlateEntry) => slot !== 'excluded' && slot !== 'overflow'
  return {
    chosen: (reviews ?? []).filter(isChosen),
    others: (reviews ?? []).filter((review) => !isChosen(review)),
  }
}
