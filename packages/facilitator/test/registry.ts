// An identity registry that fails to answer: it is a third party's, and can be upgraded.
import { type Address, type Hex, numberToHex } from 'viem'
import { GREEDY } from './abuse/wallets.ts'
import type { TestFacilitator } from './harness.ts'

const ELSEWHERE: Address = '0x00000000000000000000000000000000001de271'

/** The code of one that has no answer to any question. */
export const FAULTS: [string, Hex][] = [
  ['is gone', '0x'],
  ['reverts', '0x60006000fd'],
  ['burns gas', GREEDY],
  ['answers nonsense', '0x60001960005260206000f3'],
]

/** Of one that does not tell who owns this identity, and everything else. */
export function ownerless(agentId: bigint): Hex {
  const id = numberToHex(agentId, { size: 2 }).slice(2)
  const isAsked = `60003560e01c636352211e1460043561${id}1416604d57`
  return `0x${isAsked}3660006000376000600036600073${ELSEWHERE.slice(2)}5af43d600060003e6048573d6000fd5b3d6000f35b60006000fd`
}

/** It has this code while `work` goes on. */
export async function withRegistry<T>(
  { chain: { client }, market }: TestFacilitator,
  bytecode: Hex,
  work: () => Promise<T>,
): Promise<T> {
  const address = market.addresses.IdentityRegistry
  const code = (await client.getCode({ address })) ?? '0x'
  await client.setCode({ address: ELSEWHERE, bytecode: code })
  await client.setCode({ address, bytecode })
  try {
    return await work()
  } finally {
    await client.setCode({ address, bytecode: code })
  }
}
