import { coalesce } from '../../kit/coalesce.ts'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { embedIntent } from '../embeddings/intents.ts'
import { searchIndex } from '../memory-index/client.ts'
import { postgresSource } from '../postgres-index/source.ts'
import type { Search } from '../source.ts'
import { type Asked, answerTo } from './answer.ts'

/** Finds products for an intent, with their reviews. Returns JSON text. */
export const discover = (context: Context, chain: Chain, wanted: Omit<Asked, 'chainId'>): Promise<string> =>
  answers(context)({ ...wanted, chainId: chain.config.chainId })

/** The index of this deployment. */
export const searchOf = once(
  (context): Search => ({
    source: context.config.discoveryIndex === 'postgres' ? postgresSource(context) : searchIndex(context),
    embed: (intent, embedderId) => embedIntent(context, intent, embedderId),
  }),
)

/** Identical requests at the same time are coalesced into one. */
const answers = once((context) =>
  coalesce<Asked, string>(JSON.stringify, (asked) => answerTo(context, searchOf(context), asked)),
)
