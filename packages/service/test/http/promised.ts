// Reads the answers of a route from the OpenAPI document, which is made from the table that the server uses.
import type { TestMarket } from './market.ts'

type Refusal = { content: Record<string, { examples: Record<string, { value: { error: string } }> }> }

/** The texts of a refusal, for refusals that no real event can cause in a test. */
export async function promisedTexts({ call }: TestMarket, path: string, status: number): Promise<string[]> {
  const { body } = await call('GET', '/openapi.json')
  const refusal: Refusal = body.paths[path].get.responses[status]
  const examples = refusal.content['application/json']?.examples ?? {}
  return Object.values(examples).map(({ value }) => value.error)
}
