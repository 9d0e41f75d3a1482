import type { FastifyInstance } from 'fastify'
import { type Address, getAddress, type Hex, isAddress } from 'viem'
import type { Chain, Context } from '../context.ts'
import type { Settler } from '../settlement/types.ts'
import { badRequest, HttpRefusal } from './refusal.ts'

interface Asked {
  Params: { payer: string; nonce: string }
  Querystring: { chain_id?: unknown }
}

/** What became of a payment, for a merchant whose call got no answer. */
export function settlementRoutes(app: FastifyInstance, context: Context, settler: Settler): void {
  app.get<Asked>('/settlements/:payer/:nonce', async ({ params, query }) => {
    const payer = payerOf(params.payer)
    const nonce = nonceOf(params.nonce)
    const { chainId, network } = chainOf(context, query.chain_id)
    const key = { chainId, payer: payer.toLowerCase() as Address, nonce }
    const found = await settler.find(key).catch((err) => {
      context.log.warn({ err }, 'the records cannot be read')
      throw new HttpRefusal(503, 'the records cannot be read now; ask again', { retryAfterSeconds: 1 })
    })
    return { ...found, payer, nonce, network }
  })
}

function payerOf(text: string): Address {
  if (!isAddress(text, { strict: false })) throw badRequest('invalid payer')
  return getAddress(text)
}

function nonceOf(text: string): Hex {
  if (!/^0x[0-9a-f]{64}$/i.test(text)) throw badRequest('invalid nonce')
  return text.toLowerCase() as Hex
}

function chainOf({ chains, config }: Context, text: unknown): Chain {
  if (text !== undefined && (typeof text !== 'string' || !/^\d{1,15}$/.test(text))) {
    throw badRequest('invalid chain_id')
  }
  const chain = chains.get(text === undefined ? config.chains[0].chainId : Number(text))
  if (!chain) throw badRequest('chain_id not configured')
  return chain
}
