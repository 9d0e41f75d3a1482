import { Badge } from '../../../ui/parts.tsx'

const STATUSES = {
  active: ['good', 'open'],
  inactive: ['plain', 'closed'],
  suspended: ['bad', 'suspended'],
} as const

export const StatusBadge = ({ status }: { status: keyof typeof STATUSES }) => {
  const [tone, text] = STATUSES[status]
  return <Badge tone={tone}>{text}</Badge>
}
