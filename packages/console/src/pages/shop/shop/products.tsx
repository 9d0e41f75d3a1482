import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { short } from '../../../format/text.ts'
import { formatBps } from '../../../format/usdc.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Badge, Empty, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Foreign, Rank, Usdc } from '../../../ui/values.tsx'
import { productsOnSale } from '../parts/market-state.ts'

const AT_ONCE = 20

/** All products of the shop, open and closed. */
export function Products({ merchantId, productIds }: { merchantId: number; productIds: string[] }) {
  const api = useApi()
  const [shown, setShown] = useState(AT_ONCE)
  const cards = useQuery(productsOnSale(api, merchantId))
  const payouts = useQuery(read(api, '/v1/merchant/{id}/payouts', { params: { path: { id: merchantId } } }))
  const addLink = (
    <Link to="/shop/open" search={{ merchant: merchantId }} className="button">
      List a product
    </Link>
  )
  if (productIds.length === 0) {
    return (
      <Section title="Products">
        <Empty title="Nothing is for sale yet">
          <p>List a product: its price and its commission.</p>
          <p>{addLink}</p>
        </Empty>
      </Section>
    )
  }
  const error = cards.error ?? payouts.error
  const openOnes = new Map(cards.data?.products.map((card) => [card.product_id, card]))
  const sold = new Map(payouts.data?.products.map((product) => [product.product_id, product]))
  const listed = productIds.slice(0, shown)
  const prices = listed.flatMap((id) => openOnes.get(id)?.price_usdc ?? [])
  const nets = listed.map((id) => sold.get(id)?.net_usdc ?? 0)
  return (
    <Section title="Products" aside={addLink}>
      {error && <ErrorNote error={error} />}
      {!error && (!cards.data || !payouts.data) ? (
        <Skeleton lines={Math.min(productIds.length, AT_ONCE) * 2} />
      ) : (
        <div className="table-frame">
          <table className="stacked">
            <thead>
              <tr>
                <th scope="col">Product</th>
                <th scope="col">State</th>
                <th scope="col" className="amount">
                  Price
                </th>
                <th scope="col" className="amount">
                  Commission
                </th>
                <th scope="col">Rank</th>
                <th scope="col" className="amount">
                  Sales
                </th>
                <th scope="col" className="amount">
                  Paid to you
                </th>
              </tr>
            </thead>
            <tbody>
              {listed.map((productId) => {
                const card = openOnes.get(productId)
                const sales = sold.get(productId)
                const name = card?.name || sales?.name
                // A shop with more products than are read at once: the product's own page tells.
                const isUnknown = !card && cards.data?.has_more
                return (
                  <tr key={productId}>
                    <td data-label="Product">
                      <Link
                        to="/shop/$merchantId/product/$productId"
                        params={{ merchantId: String(merchantId), productId }}
                      >
                        {name ? <Foreign text={name} most={80} /> : `Product ${short(productId)}`}
                      </Link>
                    </td>
                    <td data-label="State">
                      {!isUnknown && (
                        <Badge tone={card ? 'good' : 'plain'}>{card ? 'on sale' : 'not on sale'}</Badge>
                      )}
                    </td>
                    <td data-label="Price" className="amount">
                      {card?.price_usdc === undefined ? (
                        <span className="soft" title="The endpoint has not told its price yet">
                          –
                        </span>
                      ) : (
                        <Usdc amount={card.price_usdc} column={prices} />
                      )}
                    </td>
                    <td data-label="Commission" className="amount number">
                      {card ? formatBps(card.commission_bps) : '–'}
                    </td>
                    <td data-label="Rank">
                      {card ? <Rank rank={card.product_rank} label="Product rank" /> : '–'}
                    </td>
                    <td data-label="Sales" className="amount number">
                      {(sales?.sales_count ?? 0).toLocaleString('en')}
                    </td>
                    <td data-label="Paid to you" className="amount">
                      <Usdc amount={sales?.net_usdc ?? 0} column={nets} />
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
      {productIds.length > shown && (
        <p className="after-list">
          <Button onClick={() => setShown(shown + AT_ONCE)}>
            Show more ({productIds.length - shown} left)
          </Button>
        </p>
      )}
    </Section>
  )
}
