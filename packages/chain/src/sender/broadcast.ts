import { type RpcEndpoint, RpcError } from '../rpc/index.ts'
import { settleSoon } from './node-view.ts'
import type { Signed, SignerContext } from './types.ts'

/** A signed and stored transaction, and the nodes to send it to. */
export interface Broadcast {
  intent: bigint
  nonce: number
  signed: Signed
  to: readonly RpcEndpoint[]
}

/**
 * Sends transactions to their nodes, to each node in the order given. Later rounds read from the chain whether a node took one; where all
 * nodes refused, the reason is returned by intent, for people to read.
 */
export async function broadcast(
  context: SignerContext,
  broadcasts: Broadcast[],
): Promise<Map<bigint, string>> {
  const refusals = new Map<Broadcast, string[]>(broadcasts.map((item) => [item, []]))
  const rounds = context.rpc.endpoints.map(async (endpoint) => {
    for (const item of broadcasts) {
      if (!item.to.includes(endpoint)) continue
      const refusal = await sendRaw(context, endpoint, item.signed)
      if (refusal === 'unreachable') return
      if (refusal) refusals.get(item)?.push(refusal)
    }
  })
  for (const result of await settleSoon(rounds)) if (result.status === 'rejected') throw result.reason
  for (const { intent, nonce, signed } of broadcasts)
    context.emit({ type: 'broadcast', intent, nonce, hash: signed.hash })
  return new Map(
    [...refusals].flatMap(([{ intent, to }, reasons]) =>
      reasons[0] !== undefined && reasons.length === to.length ? [[intent, reasons[0]]] : [],
    ),
  )
}

async function sendRaw(
  { signal, recentBroadcasts }: SignerContext,
  endpoint: RpcEndpoint,
  { raw, hash }: Signed,
): Promise<string | undefined> {
  try {
    await endpoint.request('eth_sendRawTransaction', [raw], { signal })
    recentBroadcasts.add(endpoint, hash)
    return undefined
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return error.kind === 'refused' || error.kind === 'reverted' ? error.message : 'unreachable'
  }
}
