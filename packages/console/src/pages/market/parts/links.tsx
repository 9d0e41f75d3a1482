// Products and agents are links to their pages, everywhere.
import { Link } from '@tanstack/react-router'
import { Foreign } from '../../../ui/values.tsx'

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
