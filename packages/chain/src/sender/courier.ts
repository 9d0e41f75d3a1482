import { type RpcEndpoint, RpcError } from '../rpc/index.ts'
import { settleSoon } from './sight.ts'
import type { Desk, Signed } from './types.ts'

/** Something signed and stored, on its way to some nodes. */
export interface Parcel {
  intent: bigint
  nonce: number
  signed: Signed
  to: readonly RpcEndpoint[]
}

/**
 * Gives parcels to the nodes, to each in the order given. Whether they took them is seen later, on the chain; a refusal by all is
 * returned for people to read.
 */
export async function deliver(desk: Desk, parcels: Parcel[]): Promise<Map<bigint, string>> {
  const refusals = new Map<Parcel, string[]>(parcels.map((parcel) => [parcel, []]))
  const rounds = desk.rpc.endpoints.map(async (endpoint) => {
    for (const parcel of parcels) {
      if (!parcel.to.includes(endpoint)) continue
      const refusal = await hand(desk, endpoint, parcel.signed)
      if (refusal === 'unreachable') return
      if (refusal) refusals.get(parcel)?.push(refusal)
    }
  })
  for (const result of await settleSoon(rounds)) if (result.status === 'rejected') throw result.reason
  for (const { intent, nonce, signed } of parcels)
    desk.emit({ type: 'broadcast', intent, nonce, hash: signed.hash })
  return new Map(
    [...refusals].flatMap(([{ intent, to }, reasons]) =>
      reasons[0] !== undefined && reasons.length === to.length ? [[intent, reasons[0]]] : [],
    ),
  )
}

async function hand(
  { signal, handed }: Desk,
  endpoint: RpcEndpoint,
  { raw, hash }: Signed,
): Promise<string | undefined> {
  try {
    await endpoint.request('eth_sendRawTransaction', [raw], { signal })
    handed.note(endpoint, hash)
    return undefined
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return error.kind === 'refused' || error.kind === 'reverted' ? error.message : 'unreachable'
  }
}
