// What the OpenAPI document says that a route answers: it is written from the table that the server answers from.
import type { TestMarket } from './market.ts'

type Refusal = { content: Record<string, { examples: Record<string, { value: { error: string } }> }> }

/** The texts of a refusal, for those that nothing which can honestly happen brings about. */
export async function promisedTexts({ call }: TestMarket, path: string, status: number): Promise<string[]> {
  const { body } = await call('GET', '/openapi.json')
  const refusal: Refusal = body.paths[path].get.responses[status]
  const examples = refusal.content['application/json']?.examples ?? {}
  return Object.values(examples).map(({ value }) => value.error)
}
