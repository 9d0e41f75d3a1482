import type { ChainConfig } from '@referrer/process'
import type { ChainHealth, Context } from './context.ts'

export interface Check {
  ok: boolean
  detail: string
}

/** Whether the index of a chain is current, and how far it is. */
export function checkChain(
  chain: ChainHealth | undefined,
  { maxHeadAgeSeconds }: ChainConfig,
  { config }: Context,
): Check {
  if (!chain) return { ok: false, detail: 'not followed yet' }
  const { head, indexed, lagSeconds, headAgeSeconds, error } = chain
  // An error of a node is only shown. The check fails when the index lags too far behind.
  const trouble = error === null ? '' : `; ${withoutUrls(error)}`
  if (head === null || indexed === null || lagSeconds === null)
    return { ok: false, detail: `nothing recorded yet${trouble}` }
  const lagBlocks = head > indexed ? head - indexed : 0n
  const isTooOld = lagSeconds > config.maxLagSeconds
  const isTooFar = config.maxLagBlocks !== undefined && lagBlocks > config.maxLagBlocks
  const lag = `${lagBlocks} blocks, ${Math.round(lagSeconds)} s behind`
  const stands = headAgeSeconds !== null && headAgeSeconds > (maxHeadAgeSeconds ?? Number.POSITIVE_INFINITY)
  const far = isTooOld || isTooFar ? ': too far' : ''
  const still = stands ? `; the newest block is ${Math.round(headAgeSeconds)} s old` : ''
  return { ok: !far && !still, detail: `${lag}${far}${still}${trouble}` }
}

/** Replaces each URL by its host, because the rest may hold an API key. */
function withoutUrls(text: string): string {
  return text.replace(/\w+:\/\/\S+/g, (url) => URL.parse(url)?.host || '[url]')
}
