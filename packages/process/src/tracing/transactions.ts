// Spans of our own transactions, made from what the sender tells of them.
import type { OpenSpan, SpanOptions, Tracing } from './types.ts'

/** What the sender tells of a transaction, as far as it is needed here. */
interface TransactionEvent {
  type: string
  intent?: bigint
  hash?: string
  origin?: { traceparents: readonly string[] } | undefined
}

interface Followed {
  whole: OpenSpan
  /** Sending, mining or confirming. */
  phase: OpenSpan | undefined
}

/** By event: the phase that it ends, and the one that it begins. */
const NEXT = new Map<string, string | undefined>([
  ['stored', 'transaction send'],
  ['broadcast', 'transaction mine'],
  ['mined', 'transaction confirm'],
  ['reorganised', 'transaction mine'],
  ['confirmed', undefined],
  ['failed', undefined],
])

/**
 * A span for each transaction, from its signing until it is final, with its phases. A transaction of one request belongs to the trace of
 * that request; a batch has a trace of its own, with links to those of its requests.
 */
export function createTransactionTraces(
  tracing: Tracing,
): (chainId: number, event: TransactionEvent) => void {
  if (!tracing.isOn) return () => {}
  const followed = new Map<string, Followed>()

  return (chainId, { type, intent, hash, origin }) => {
    if (intent === undefined || !NEXT.has(type)) return
    const key = `${chainId} ${intent}`
    let known = followed.get(key)
    if (!known) {
      const begun = type === 'stored' ? begin(chainId, intent, origin?.traceparents ?? []) : undefined
      if (!begun) return
      known = { whole: begun, phase: undefined }
      followed.set(key, known)
    }
    if (hash) known.whole.set({ 'referrer.transaction': hash })
    known.phase?.end()
    const next = NEXT.get(type)
    known.phase = next === undefined ? undefined : tracing.begin(next, { parent: known.whole.traceparent })
    if (type !== 'confirmed' && type !== 'failed') return
    known.whole.end(type === 'failed' ? 'failed' : undefined)
    followed.delete(key)
  }

  function begin(chainId: number, intent: bigint, traceparents: readonly string[]): OpenSpan | undefined {
    const [only, ...others] = traceparents
    const attributes = { 'referrer.chain': chainId, 'referrer.intent': String(intent) }
    const options: SpanOptions = others.length === 0 ? { parent: only } : { links: traceparents }
    return tracing.begin('transaction', { kind: 'producer', attributes, ...options })
  }
}
