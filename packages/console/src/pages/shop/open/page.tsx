import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { RequireSession } from '../../../session/require-session.tsx'
import { PageTitle } from '../../../ui/parts.tsx'
import { WithChain } from '../parts/with-chain.tsx'
import { OpeningSteps } from './opening-steps.tsx'

export function OpenShopPage() {
  const { merchant, product } = useSearch({ from: '/shop/open' })
  const navigate = useNavigate({ from: '/shop/open' })
  return (
    <>
      <PageTitle kicker={<Link to="/shop">My shops</Link>} title="Open a shop">
        <p className="lead">
          Six steps. Each one looks at the chain and the market first, so you can leave at any time and go on
          later, in any browser.
        </p>
      </PageTitle>
      <RequireSession>
        {(session) => (
          <WithChain session={session}>
            {(onChain) => (
              <OpeningSteps
                onChain={onChain}
                merchantId={merchant}
                productId={product}
                onMerchant={(id) => navigate({ search: { merchant: id } })}
                onProduct={(id) =>
                  navigate({
                    search: {
                      ...(merchant !== undefined && { merchant }),
                      product: id,
                    },
                  })
                }
              />
            )}
          </WithChain>
        )}
      </RequireSession>
    </>
  )
}
