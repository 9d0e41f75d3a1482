// An identity registry that fails to answer: it is a third party's, and can be upgraded.
import { type Address, type Hex, numberToHex } from 'viem'
import { GREEDY } from './abuse/wallets.ts'
import type { TestFacilitator } from './harness.ts'

const ELSEWHERE: Address = '0x00000000000000000000000000000000001de271'

const isAbout = (agentId: bigint) => `60043561${numberToHex(agentId, { size: 2 }).slice(2)}14`
/** From its 24th byte on. */
const PASS_ON = `3660006000376000600036600073${ELSEWHERE.slice(2)}5af43d600060003e6048573d6000fd5b3d6000f3`

/** The code of one that has no answer to any question. */
export const FAULTS: [string, Hex][] = [
  ['is gone', '0x'],
  ['reverts', '0x60006000fd'],
  ['burns gas', GREEDY],
  ['answers nonsense', '0x60001960005260206000f3'],
  // 70,000 are burned: we give 100,000 for an answer, and the contracts 50,000.
  ['takes more gas than the contracts give it', `0x610a845b600190038060035750${'5b'.repeat(10)}${PASS_ON}`],
]

/** Of one that does not tell who owns this identity, and everything else. */
export const ownerless = (agentId: bigint): Hex =>
  `0x60003560e01c636352211e14${isAbout(agentId)}16604d57${PASS_ON}5b60006000fd`

/** Of one that burns gas over this identity, and answers about all others. */
export const greedyAbout = (agentId: bigint): Hex =>
  `0x${'5b'.repeat(13)}${isAbout(agentId)}604d57${PASS_ON}5b604d56`

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
