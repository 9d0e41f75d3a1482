import type { FastifyInstance } from 'fastify'
import { type Address, getAddress, type Hex } from 'viem'
import { z } from 'zod'
import type { Chain, Context } from '../context.ts'
import type { Settler } from '../settlement/types.ts'
import { badRequest, HttpRefusal } from './refusal.ts'

const matching = (pattern: RegExp, about: string) =>
  z
    .string()
    .regex(pattern)
    .meta({ about, shown: { type: 'string', pattern: pattern.source } })

export const AboutPayment = z.object({
  payer: matching(/^0x[0-9a-fA-F]{40}$/, 'Who signed the authorisation.'),
  nonce: matching(/^0x[0-9a-fA-F]{64}$/, 'The nonce of the authorisation.'),
})
export const AboutQuery = z.object({
  chain_id: matching(/^\d{1,15}$/, 'Which chain it is on; the default one where it is left out.').optional(),
})

/** What became of a payment, for a merchant whose call got no answer. */
export function settlementRoutes(app: FastifyInstance, context: Context, settler: Settler): void {
  app.get('/settlements/:payer/:nonce', async (request) => {
    const asked = valid(AboutPayment, request.params)
    const payer = getAddress(asked.payer)
    const nonce = asked.nonce.toLowerCase() as Hex
    const { chainId, network } = chainOf(context, valid(AboutQuery, request.query).chain_id)
    const key = { chainId, payer: payer.toLowerCase() as Address, nonce }
    const found = await settler.find(key).catch((err) => {
      context.log.warn({ err }, 'a settlement cannot be read')
      throw new HttpRefusal(503, 'the records cannot be read now; ask again', { retryAfterSeconds: 1 })
    })
    return { ...found, payer, nonce, network }
  })
}

function valid<T>(schema: z.ZodType<T>, given: unknown): T {
  const { data, error } = schema.safeParse(given)
  if (error) throw badRequest(`invalid ${error.issues[0]?.path.join('.')}`)
  return data
}

function chainOf({ chains, config }: Context, text: string | undefined): Chain {
  const chain = chains.get(text === undefined ? config.chains[0].chainId : Number(text))
  if (!chain) throw badRequest('chain_id not configured')
  return chain
}
