import type { AnswerOf } from '@referrer/client'
import { plural } from '../../../format/text.ts'
import { Badge, Card } from '../../../ui/parts.tsx'
import { Foreign, Rank, Usdc } from '../../../ui/values.tsx'
import { ProductLink } from '../shared/links.tsx'

type Product = AnswerOf<'/v1/product', 'get'>['products'][number]

export const ProductItem = ({ product }: { product: Product }) => (
  <Card className="card-link">
    <div className="row row-apart">
      <h3>
        <ProductLink merchantId={product.merchant_id} productId={product.product_id} name={product.name} />
      </h3>
      {product.category && (
        <Badge>
          <Foreign text={product.category} most={40} />
        </Badge>
      )}
    </div>
    <p className="soft small">
      <Foreign text={product.description} most={280} />
    </p>
    <p className="row row-apart">
      {product.price_usdc === undefined ? (
        <span className="soft">Price told by the shop</span>
      ) : (
        <strong>
          <Usdc amount={product.price_usdc} />
        </strong>
      )}
      <Rank rank={product.product_rank} label="Product Rank" />
    </p>
    <p className="soft small">
      {plural(product.review_count, 'review')}, {plural(product.sales_count, 'sale')}
    </p>
  </Card>
)
