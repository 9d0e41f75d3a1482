import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Context } from '../context.ts'
import { askCatalogue, type CatalogueQuestion } from '../market/catalogue.ts'
import { badRequest, HttpRefusal } from './refusal.ts'

const text = (about: string) => z.string().optional().meta({ about })

const filters = {
  type: text('Everything here is `http`.'),
  payTo: text('Only what is paid to this account.'),
  scheme: text('Everything here is `exact`.'),
  network: text('Only this chain, as CAIP-2 names it.'),
  extensions: text('Everything here has `bazaar`.'),
}

export const ListQuery = z.object({
  ...filters,
  limit: text('How many, 1 to 100.'),
  offset: text('How many to skip.'),
})
export const SearchQuery = z.object({
  query: z.string().min(1).meta({ about: 'What you want, in words.' }),
  ...filters,
  limit: text('How many, 1 to 20.'),
  cursor: text('Of the page before; left out, the first page.'),
})

/** What is sold in the marketplace, as the official client of x402's Bazaar asks for it. */
export function discoveryRoutes(app: FastifyInstance, context: Context): void {
  if (context.config.marketUrl === undefined) return
  serve('/discovery/resources', ListQuery)
  serve('/discovery/search', SearchQuery)

  function serve(path: CatalogueQuestion['path'], schema: typeof ListQuery | typeof SearchQuery) {
    app.get(path, async (request, reply) => {
      const { data, error } = schema.safeParse(request.query)
      if (error) throw badRequest(`invalid ${error.issues[0]?.path.join('.')}`)
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries(data)) if (value !== undefined) query.set(name, value)
      const answer = await askCatalogue(context)({ path, query, client: request.ip })
      if (answer.kind === 'refused') throw badRequest(answer.error)
      if (answer.kind === 'away') {
        const { retryAfterSeconds } = answer
        throw new HttpRefusal(503, 'the marketplace cannot be asked right now', { retryAfterSeconds })
      }
      return reply.type('application/json; charset=utf-8').send(answer.body)
    })
  }
}
