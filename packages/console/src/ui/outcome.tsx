import type { EntryOf } from '@referrer/client'
import { Badge } from './parts.tsx'

type Compared = EntryOf<'/v1/review'>['comparison_outcome']

const OUTCOMES: Record<
  Exclude<Compared, 'pending'>,
  { name: string; why: string; tone: 'good' | 'bad' | 'accent' | 'plain' }
> = {
  confirmed: { name: 'Confirmed', why: 'Later buyers found the same.', tone: 'good' },
  contradicted: { name: 'Contradicted', why: 'Later buyers found otherwise.', tone: 'bad' },
  disputed: {
    name: 'Disputed',
    why: 'Its author disagrees with the comparison; an admin will decide.',
    tone: 'accent',
  },
  resolved: { name: 'Dispute decided', why: 'An admin has decided the dispute about it.', tone: 'plain' },
}

/** What later buyers found, compared with the review. */
export function Outcome({ outcome }: { outcome: Compared }) {
  if (outcome === 'pending') return null
  const { name, why, tone } = OUTCOMES[outcome]
  return (
    <Badge tone={tone} title={why}>
      {name}
    </Badge>
  )
}

export const BuyerBadge = () => (
  <Badge tone="accent" title="The author bought the product here and reviews that purchase.">
    Bought it here
  </Badge>
)
