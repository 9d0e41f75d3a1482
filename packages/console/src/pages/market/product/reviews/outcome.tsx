import { Badge } from '../../../../ui/parts.tsx'
import type { ProductReview } from '../questions.ts'

const OUTCOMES: Record<
  Exclude<ProductReview['comparison_outcome'], 'pending'>,
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
export function Outcome({ outcome }: { outcome: ProductReview['comparison_outcome'] }) {
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
