// The compiled contracts, as they are committed in contracts/compiled: who only deploys them needs no compiler.
import { readFileSync } from 'node:fs'
import type { Abi, Hex } from 'viem'

export const CONTRACT_NAMES = [
  'AddressRegistry',
  'IdentityRegistry',
  'MerchantRegistry',
  'ReviewRegistry',
  'CommissionEscrow',
  'SplitRouter',
  'SandboxUSDC',
  'ReputationRegistry',
  'SettlementProbe',
  'WalletDeployment',
] as const
export type ContractName = (typeof CONTRACT_NAMES)[number]

export interface Artifact {
  contractName: ContractName
  /** The path of its source in the folder of the contracts. */
  sourceName: string
  abi: Abi
  /** The code that creates the contract; the constructor's arguments follow it. */
  bytecode: Hex
  /** The code that stands at the contract's address, with zeros for its immutables. */
  deployedBytecode: Hex
}

export const COMPILED = new URL('../compiled/', import.meta.url)

/** The compiled contract. */
export function readArtifact(name: ContractName): Artifact {
  const url = new URL(`${name}.json`, COMPILED)
  try {
    return JSON.parse(readFileSync(url, 'utf8'))
  } catch (cause) {
    throw new Error(`${name} is not compiled: run \`npm run build -w contracts\``, { cause })
  }
}
