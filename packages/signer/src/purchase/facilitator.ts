// Asks the facilitator about a payment. Its answer explains and names transactions, but proves nothing: the chain does.
import type { Hash } from 'viem'
import { z } from 'zod'
import { withBackend } from '../backend.ts'
import type { Context } from '../context.ts'
import type { Entry } from './journal.ts'
import { jsonOf } from './link.ts'

const Settlement = z.object({
  status: z.string(),
  transaction: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/)
    .transform((text) => text as Hash)
    .nullish(),
  message: z.string().nullish(),
})

export interface Word {
  isPending: boolean
  transaction?: Hash | undefined
  message?: string | undefined
}

const MAX_BYTES = 64 * 1024
const LONGEST_MESSAGE = 300

/** Undefined when there is no valid answer. */
export async function askFacilitator(context: Context, entry: Entry): Promise<Word | undefined> {
  try {
    const named = context.config.FACILITATOR_URL
    const base = named ?? (await toldByMarket(context, entry))
    if (!base) return undefined
    const url = new URL(`${base}/settlements/${entry.payer}/${entry.nonce}?chain_id=${entry.chainId}`)
    const isOurs = named !== undefined
    const { status, body } = await context.get(url, {
      timeoutMs: context.timeouts.answer,
      maxBytes: MAX_BYTES,
      isOurs,
    })
    if (status !== 200) return undefined
    const { status: standing, transaction, message } = Settlement.parse(jsonOf(body))
    return {
      isPending: standing === 'pending',
      transaction: transaction ?? undefined,
      message: message?.slice(0, LONGEST_MESSAGE),
    }
  } catch {
    return undefined
  }
}

async function toldByMarket(context: Context, { token }: Entry): Promise<string | undefined> {
  const link = await withBackend(context, (ask) => ask('resolve_ref_link', { ref_link: token }))
  return typeof link.facilitator_url === 'string' ? link.facilitator_url.replace(/\/+$/, '') : undefined
}
