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
    const { base, isOurs } = await facilitatorOf(context, entry.token)
    if (!base) return undefined
    const url = new URL(`${base}/settlements/${entry.payer}/${entry.nonce}?chain_id=${entry.chainId}`)
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

/** Where payments through a link are settled; `isOurs` where the operator has configured it. */
export async function facilitatorOf(
  context: Context,
  token: string,
): Promise<{ base: string | undefined; isOurs: boolean }> {
  const { FACILITATOR_URL: named } = context.config
  if (named !== undefined) return { base: named, isOurs: true }
  const link = await withBackend(context, (ask) => ask('resolve_ref_link', { ref_link: token }))
  const told = link.facilitator_url
  return { base: typeof told === 'string' ? told.replace(/\/+$/, '') : undefined, isOurs: false }
}
