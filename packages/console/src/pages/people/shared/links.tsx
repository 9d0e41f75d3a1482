import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { plain } from '../../../format/text.ts'

/** A review among the others of its product, by the market's own id of it. */
export const ReviewLink = ({ id, children }: { id: number; children?: ReactNode }) => (
  <Link to="/review/$reviewId" params={{ reviewId: String(id) }}>
    {children ?? `Review ${id}`}
  </Link>
)

const LONGEST_HOST = 80

/** A page of strangers, shown as its host: the rest of an address may say anything. */
export function OutsideLink({ url }: { url: string }) {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return null
  return (
    <a className="foreign" href={parsed.href} rel="noopener noreferrer nofollow ugc">
      {plain(parsed.host, LONGEST_HOST)}
    </a>
  )
}
