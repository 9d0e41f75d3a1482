// Every page of the console, with an address at which the demo market has something to show.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestSandbox } from '../../../../sandbox/test/sandbox.ts'
import { suspectRing } from './suspicion.ts'

export type Account = TestSandbox['state']['accounts'][number]

export interface Place {
  /** `/product/$merchantId/$productId` */
  route: string
  path: string
  /** Who has to be signed in. */
  as?: Account
}

interface Purchase {
  escrow_id: number
  buyer_agent_id: number | null
  cashback_usdc: number
}

const PAGES = join(import.meta.dirname, '../../src/pages')

/** The routes that the sources name, without those that only lead elsewhere. */
export function routesOfSources(): string[] {
  const sources = globSync('**/route.ts', { cwd: PAGES }).map((file) =>
    readFileSync(join(PAGES, file), 'utf8'),
  )
  const paths = sources
    .filter((text) => text.includes('component:'))
    .flatMap((text) => [...text.matchAll(/^\s*path: '([^']+)'/gm)])
  return [...new Set(paths.map(([, path]) => path as string))].sort()
}

export async function placesOf(
  sandbox: Pick<TestSandbox, 'state' | 'account' | 'directory'>,
): Promise<Place[]> {
  const { state, account } = sandbox
  const get = async (path: string) => (await fetch(`${state.baseUrl}${path}`)).json()
  const [merchant, admin] = (['merchant', 'admin'] as const).map(account) as [Account, Account]
  const [{ purchases }, { products }, { agents }, ringId] = await Promise.all([
    get('/v1/activity?limit=100') as Promise<{ purchases: Purchase[] }>,
    get(`/v1/product?merchant_id=${merchant.merchantId}&limit=1`),
    get('/v1/leaderboard?limit=1') as Promise<{ agents: { agent_id: number }[] }>,
    suspectRing(sandbox),
  ])
  const ownerOf = ({ buyer_agent_id }: Purchase) =>
    state.accounts.find(({ agentId }) => agentId !== undefined && agentId === buyer_agent_id)
  const owned = purchases.filter(ownerOf)
  const bought = owned.find(({ cashback_usdc }) => cashback_usdc > 0) ?? owned[0]
  const owner = bought && ownerOf(bought)
  const [product] = products
  const [reviewer] = agents
  if (!owner || !product || !reviewer)
    throw new Error('the market has no purchase of an agent, no product, or no reviewer')
  const shop = `/shop/${merchant.merchantId}`
  return [
    { route: '/', path: '/' },
    { route: '/discover', path: '/discover?q=when+does+the+sun+rise+in+a+city' },
    {
      route: '/product/$merchantId/$productId',
      path: `/product/${merchant.merchantId}/${product.product_id}`,
    },
    { route: '/reviewers', path: '/reviewers' },
    { route: '/reviewer/$agentId', path: `/reviewer/${reviewer.agent_id}` },
    { route: '/merchant/$merchantId', path: `/merchant/${merchant.merchantId}` },
    { route: '/escrow/$escrowId', path: `/escrow/${bought.escrow_id}` },
    { route: '/sign-in', path: '/sign-in' },
    { route: '/link', path: '/link', as: owner },
    { route: '/me', path: '/me', as: owner },
    { route: '/me/agent/$agentId', path: `/me/agent/${owner.agentId}`, as: owner },
    { route: '/me/agent/$agentId/earnings', path: `/me/agent/${owner.agentId}/earnings`, as: owner },
    { route: '/me/agent/$agentId/proofs', path: `/me/agent/${owner.agentId}/proofs`, as: owner },
    { route: '/me/purchases', path: '/me/purchases', as: owner },
    { route: '/me/purchase/$escrowId', path: `/me/purchase/${bought.escrow_id}`, as: owner },
    { route: '/me/chat', path: '/me/chat', as: owner },
    { route: '/me/sessions', path: '/me/sessions', as: owner },
    { route: '/me/spending', path: '/me/spending', as: owner },
    { route: '/shop', path: '/shop', as: merchant },
    { route: '/shop/open', path: '/shop/open', as: merchant },
    { route: '/shop/$merchantId', path: shop, as: merchant },
    {
      route: '/shop/$merchantId/product/$productId',
      path: `${shop}/product/${product.product_id}`,
      as: merchant,
    },
    { route: '/shop/$merchantId/sales', path: `${shop}/sales`, as: merchant },
    { route: '/operator', path: '/operator', as: admin },
    { route: '/operator/proofs', path: '/operator/proofs', as: admin },
    { route: '/operator/disputes', path: '/operator/disputes', as: admin },
    { route: '/operator/agents', path: '/operator/agents', as: admin },
    { route: '/operator/shops', path: '/operator/shops', as: admin },
    { route: '/operator/rings', path: '/operator/rings', as: admin },
    { route: '/operator/rings/$ringId', path: `/operator/rings/${ringId}`, as: admin },
    { route: '/operator/checklists', path: '/operator/checklists', as: admin },
  ]
}

/** Pages that everybody can read. */
export const isPublic = ({ route }: Place): boolean => !/^\/(me|link|sign-in|shop|operator)\b/.test(route)
