import { Link } from '@tanstack/react-router'

/** From one page of a shop to the others. */
export function ShopLinks({
  merchantId,
  current,
}: {
  merchantId: number
  current: 'shop' | 'sales' | 'product'
}) {
  const params = { merchantId: String(merchantId) }
  return (
    <nav className="shop-links" aria-label="Shop">
      <Link
        to="/shop/$merchantId"
        params={params}
        activeOptions={{ exact: true }}
        aria-current={current === 'shop' ? 'page' : undefined}
      >
        Shop
      </Link>
      <Link
        to="/shop/$merchantId/sales"
        params={params}
        aria-current={current === 'sales' ? 'page' : undefined}
      >
        Sales
      </Link>
      <Link to="/merchant/$merchantId" params={params}>
        As buyers see it
      </Link>
    </nav>
  )
}
