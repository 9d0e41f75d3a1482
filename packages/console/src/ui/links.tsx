// Products, agents and reviews are links to their pages, everywhere.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { plain } from '../format/text.ts'
import { Foreign } from './values.tsx'

const MOST_NAME = 120

export const productName = (name: string): string => (name.trim() === '' ? 'A product without a name' : name)

export const ProductLink = ({
  product: { merchant_id, product_id, name },
  most = MOST_NAME,
}: {
  product: { merchant_id: number; product_id: string; name: string }
  /** How many characters of its name are shown. */
  most?: number
}) => (
  <Link
    to="/product/$merchantId/$productId"
    params={{ merchantId: String(merchant_id), productId: product_id }}
  >
    <Foreign text={productName(name)} most={most} />
  </Link>
)

export const AgentLink = ({ id, isFirst = false }: { id: number; isFirst?: boolean }) => (
  <Link to="/reviewer/$agentId" params={{ agentId: String(id) }}>
    {isFirst ? 'Agent' : 'agent'}&nbsp;{id}
  </Link>
)

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
