import type { AnswerOf } from '@referrer/client'
import { plural } from '../../../format/text.ts'
import { ProductLink } from '../../../ui/links.tsx'
import { Badge } from '../../../ui/parts.tsx'
import { Foreign, Rank, Usdc } from '../../../ui/values.tsx'

type Product = AnswerOf<'/v1/product', 'get'>['products'][number]

/** A product of the catalogue; all of it is a link. */
export const ProductCard = ({ product }: { product: Product }) => (
  <article className="card card-link product-card">
    <div className="row row-apart">
      {product.category ? (
        <Badge>
          <Foreign text={product.category} most={40} />
        </Badge>
      ) : (
        <span />
      )}
      <Price amount={product.price_usdc} />
    </div>
    <h3>
      <ProductLink product={product} />
    </h3>
    <p className="small clamped">
      <Foreign text={product.description} most={280} />
    </p>
    <div className="row row-apart small soft">
      <span>
        {plural(product.review_count, 'review')}, {plural(product.sales_count, 'sale')}
      </span>
      <Rank rank={product.product_rank} label="Product rank" />
    </div>
  </article>
)

/** What the shop last asked for. */
export const Price = ({ amount }: { amount: number | undefined }) =>
  amount === undefined ? (
    <span className="soft small">price when asked</span>
  ) : (
    <strong>
      <Usdc amount={amount} />
    </strong>
  )
