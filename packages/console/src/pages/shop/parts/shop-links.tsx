import { Link } from '@tanstack/react-router'

/** From one page of a shop to the others. */
export function ShopLinks({
  merchantId,
  productId,
  current,
}: {
  merchantId: number
  /** On the page of a product that buyers can see. */
  productId?: string | undefined
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
      {productId === undefined ? (
        <Link to="/merchant/$merchantId" params={params}>
          As buyers see it
        </Link>
      ) : (
        <Link to="/product/$merchantId/$productId" params={{ ...params, productId }}>
          As buyers see it
        </Link>
      )}
    </nav>
  )
}
