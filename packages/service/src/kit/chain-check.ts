import { createNodeCheck, finalBlock, type NodeAnswers } from '@referrer/chain'
import { type ChainConfig, createCache, withTimeout } from '@referrer/process'
import { type ChainHealth, type Context, once } from './context.ts'

export interface Check {
  ok: boolean
  detail: string
}

const DATABASE_TIMEOUT_MS = 1_000
/** Everybody may ask `/readyz`, so the nodes are not asked each time. */
const NODES_FOR_MS = 1_000

/** Whether the index of a chain is current and its nodes answer rightly, and how far it is. */
export async function checkChain(
  chain: ChainHealth | undefined,
  config: ChainConfig,
  context: Context,
): Promise<Check> {
  const { wrong, notes } = (await nodesOf(context)(config.chainId)) ?? { wrong: [], notes: [] }
  const { ok, detail } = checkRecords(chain, config, context)
  // An error of a node is only shown: the check fails when the index lags too far behind, or when the nodes answer wrongly.
  const error = chain?.error ?? null
  const shown = [...wrong, ...(error === null || wrong.length > 0 ? [] : [error])]
  const told = shown.length > 0 ? shown : notes
  return {
    ok: ok && wrong.length === 0,
    detail: [detail, ...told.map(withoutUrls)].join('; '),
  }
}

const nodesOf = once((context) => {
  const { sql, chains } = context
  const checks = new Map(
    [...chains].map(([chainId, { config, rpc }]) => [chainId, createNodeCheck({ ...config, rpc })]),
  )
  return createCache<number, NodeAnswers | undefined>({
    keyOf: String,
    async load(chainId) {
      const known = finalBlock(sql, chainId).catch(() => undefined)
      return checks.get(chainId)?.(await withTimeout(DATABASE_TIMEOUT_MS, known))
    },
    ttlMs: () => NODES_FOR_MS,
    clock: () => performance.now(),
    max: 1_000,
  })
})

function checkRecords(
  chain: ChainHealth | undefined,
  { maxHeadAgeSeconds }: ChainConfig,
  { config }: Context,
): Check {
  if (!chain) return { ok: false, detail: 'not followed yet' }
  const { head, indexed, lagSeconds, headAgeSeconds } = chain
  if (head === null || indexed === null || lagSeconds === null)
    return { ok: false, detail: 'nothing recorded yet' }
  const lagBlocks = head > indexed ? head - indexed : 0n
  const isTooOld = lagSeconds > config.maxLagSeconds
  const isTooFar = config.maxLagBlocks !== undefined && lagBlocks > config.maxLagBlocks
  const lag = `${lagBlocks} blocks, ${Math.round(lagSeconds)} s behind`
  const stands = headAgeSeconds !== null && headAgeSeconds > (maxHeadAgeSeconds ?? Number.POSITIVE_INFINITY)
  const far = isTooOld || isTooFar ? ': too far' : ''
  const still = stands ? `; the newest block is ${Math.round(headAgeSeconds)} s old` : ''
  return { ok: !far && !still, detail: `${lag}${far}${still}` }
}

/** Replaces each URL by its host, because the rest may hold an API key. */
function withoutUrls(text: string): string {
  return text.replace(/\w+:\/\/\S+/g, (url) => URL.parse(url)?.host || '[url]')
}
