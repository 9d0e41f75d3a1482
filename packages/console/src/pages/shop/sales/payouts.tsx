import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { short } from '../../../format/text.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Empty, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Foreign, Usdc } from '../../../ui/values.tsx'

const AT_ONCE = 20

/** What went to the payout wallet since the beginning, by product. */
export function Payouts({ merchantId }: { merchantId: number }) {
  const api = useApi()
  const [shown, setShown] = useState(AT_ONCE)
  const { data, error } = useQuery(
    read(api, '/v1/merchant/{id}/payouts', { params: { path: { id: merchantId } } }),
  )
  const products = data?.products.filter(({ sales_count }) => sales_count > 0) ?? []
  const listed = products.slice(0, shown)
  const column = (field: 'revenue_usdc' | 'commission_usdc' | 'fee_usdc' | 'net_usdc') =>
    listed.map((product) => product[field])
  return (
    <Section title="Payouts by product, since the beginning">
      {error && <ErrorNote error={error} />}
      {!data && !error && <Skeleton lines={4} />}
      {data && products.length === 0 && (
        <Empty title="Nothing was paid out yet">
          <p>Your share of a sale goes to your payout wallet in the same transaction.</p>
        </Empty>
      )}
      {products.length > 0 && (
        <div className="table-frame">
          <table className="stacked stacked-pairs">
            <thead>
              <tr>
                <th scope="col">Product</th>
                <th scope="col" className="amount">
                  Sales
                </th>
                <th scope="col" className="amount">
                  Buyers paid
                </th>
                <th scope="col" className="amount">
                  Commission and fee
                </th>
                <th scope="col" className="amount">
                  Fee in it
                </th>
                <th scope="col" className="amount">
                  Paid to you
                </th>
              </tr>
            </thead>
            <tbody>
              {listed.map((product) => (
                <tr key={product.product_id}>
                  <td data-label="Product">
                    <Link
                      to="/shop/$merchantId/product/$productId"
                      params={{ merchantId: String(merchantId), productId: product.product_id }}
                    >
                      {product.name ? <Foreign text={product.name} most={80} /> : short(product.product_id)}
                    </Link>
                  </td>
                  <td data-label="Sales" className="amount number">
                    {product.sales_count.toLocaleString('en')}
                  </td>
                  <td data-label="Buyers paid" className="amount">
                    <Usdc amount={product.revenue_usdc} column={column('revenue_usdc')} />
                  </td>
                  <td data-label="Commission and fee" className="amount">
                    <Usdc amount={product.commission_usdc} column={column('commission_usdc')} />
                  </td>
                  <td data-label="Fee in it" className="amount">
                    <Usdc amount={product.fee_usdc} column={column('fee_usdc')} />
                  </td>
                  <td data-label="Paid to you" className="amount">
                    <Usdc amount={product.net_usdc} column={column('net_usdc')} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {products.length > shown && (
        <p className="after-list">
          <Button onClick={() => setShown(shown + AT_ONCE)}>
            Show more ({products.length - shown} left)
          </Button>
        </p>
      )}
    </Section>
  )
}
