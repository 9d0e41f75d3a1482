// The links of the demo's reviews.
import type { Hex } from 'viem'
import type { TestSandbox } from './sandbox.ts'

export interface Review {
  on_chain_id: number
  merchant_id: number
  product_id: Hex
  ref_link: string
}

export interface Resolved {
  merchant_endpoint: string
  token: string
  split_router: string
  facilitator_url: string
  chain_id: number
  product_id: Hex
  review_id: number
  reviewer_agent_id: number
  cashback_of_commission_bps: number
}

export async function reviewsOf({ state }: Pick<TestSandbox, 'state'>): Promise<Review[]> {
  return (await (await fetch(`${state.baseUrl}/v1/review?limit=500&chain_id=${state.chainId}`)).json())
    .reviews
}

export async function resolve(link: string): Promise<Resolved> {
  const response = await fetch(link)
  if (!response.ok) throw new Error(`${link} does not resolve: ${response.status} ${await response.text()}`)
  return response.json()
}

/** The newest link to what the shop sells at this path. */
export async function linkTo(sandbox: Pick<TestSandbox, 'state'>, path: string): Promise<string> {
  const product = sandbox.state.products.find(({ endpointUrl }) => endpointUrl.endsWith(path))
  const review = (await reviewsOf(sandbox)).find(({ product_id }) => product_id === product?.productId)
  if (!review) throw new Error(`nobody has reviewed ${path}`)
  return review.ref_link
}
