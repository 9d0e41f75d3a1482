import { type Request, serialize } from '../http/request.ts'
import { get } from '../http/requests.ts'

export type Wish = {
  text: string
  category?: string | undefined
  ceiling?: number | undefined
  products?: number
}

export interface Found {
  merchant_id: number
  product_id: string
  name: string
  product_score: number
  sub_scores: { intent_match: number; product_rank: number }
  review_count: number
  reviews: unknown[] | null
}

let clients = 0

/** Every question comes from another client: each may ask five times a second. */
function client(): string {
  clients = (clients + 1) % 2 ** 24
  return `10.${clients >> 16}.${(clients >> 8) & 255}.${clients & 255}`
}

export function question({ text, category, ceiling, products }: Wish): Request {
  const query = new URLSearchParams({ intent: text })
  if (category !== undefined) query.set('category', category)
  if (ceiling !== undefined) query.set('price_ceiling', String(ceiling))
  if (products !== undefined) query.set('max_products', String(products))
  return { ...get(`/v1/discover?${query}`), headers: { 'X-Forwarded-For': client() } }
}

/** As it goes over the wire, one after the other and from the start again. */
export function questions(wishes: readonly Wish[]): () => Buffer {
  let at = 0
  return () => serialize(question(wishes[at++ % wishes.length] ?? { text: '' }))
}

export async function ask(url: string, wish: Wish): Promise<Found[]> {
  const { path, headers = {} } = question(wish)
  const response = await fetch(`${url}${path}`, { headers })
  if (response.status !== 200)
    throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`)
  const { products } = (await response.json()) as { products: Found[] }
  return products
}
