import type { AnswerOf } from '@referrer/client'
import { Link, type LinkProps } from '@tanstack/react-router'
import { short } from '../../../format/text.ts'
import { Pager } from '../../../ui/parts.tsx'
import { Foreign, Hash, Moment, Usdc } from '../../../ui/values.tsx'

type Sale =
  AnswerOf<'/v1/merchant/{id}/sales', 'get'> extends infer A
    ? A extends { sales: (infer S)[] }
      ? S
      : never
    : never

interface Props {
  sales: Sale[]
  page: number
  hasMore: boolean
  to: (page: number) => LinkProps
}

const netOf = ({ price_usdc, commission_usdc }: Sale): number => price_usdc - commission_usdc

export const SalesTable = ({ sales, page, hasMore, to }: Props) => (
  <>
    <div className="table-frame">
      <table className="stacked">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Product</th>
            <th scope="col">Reviewer</th>
            <th scope="col">Buyer</th>
            <th scope="col" className="amount">
              Paid
            </th>
            <th scope="col" className="amount">
              Commission
            </th>
            <th scope="col" className="amount">
              Yours
            </th>
          </tr>
        </thead>
        <tbody>
          {sales.map((sale) => (
            <tr key={sale.escrow_id}>
              <td data-label="When">
                <Link to="/escrow/$escrowId" params={{ escrowId: String(sale.escrow_id) }}>
                  <Moment at={sale.happened_at} />
                </Link>
              </td>
              <td data-label="Product">
                <Link
                  to="/shop/$merchantId/product/$productId"
                  params={{ merchantId: String(sale.merchant_id), productId: sale.product_id }}
                >
                  {sale.product_name ? (
                    <Foreign text={sale.product_name} most={60} />
                  ) : (
                    short(sale.product_id)
                  )}
                </Link>
              </td>
              <td data-label="Reviewer">
                <Link to="/reviewer/$agentId" params={{ agentId: String(sale.reviewer_agent_id) }}>
                  Agent {sale.reviewer_agent_id}
                </Link>
              </td>
              <td data-label="Buyer">
                {sale.buyer_agent_id === null ? (
                  <Hash value={sale.payer} />
                ) : (
                  <Link to="/reviewer/$agentId" params={{ agentId: String(sale.buyer_agent_id) }}>
                    Agent {sale.buyer_agent_id}
                  </Link>
                )}
              </td>
              <td data-label="Paid" className="amount">
                <Usdc amount={sale.price_usdc} column={sales.map(({ price_usdc }) => price_usdc)} />
              </td>
              <td data-label="Commission" className="amount">
                <Usdc
                  amount={sale.commission_usdc}
                  column={sales.map(({ commission_usdc }) => commission_usdc)}
                />
              </td>
              <td data-label="Yours" className="amount">
                <Usdc amount={netOf(sale)} column={sales.map(netOf)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    <Pager page={page} hasMore={hasMore} to={to} />
  </>
)
