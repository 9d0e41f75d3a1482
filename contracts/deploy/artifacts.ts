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
  'SettlementProbe',
] as const
export type ContractName = (typeof CONTRACT_NAMES)[number]

export interface Artifact {
  abi: Abi
  bytecode: Hex
  /** The code that stands at the contract's address. */
  deployedBytecode: Hex
}

const FOLDERS: Partial<Record<ContractName, string>> = {
  SandboxUSDC: 'src/sandbox',
  SettlementProbe: 'src/lens',
}

/** The compiled contract. */
export function readArtifact(name: ContractName): Artifact {
  const folder = FOLDERS[name] ?? 'src'
  const url = new URL(`../artifacts/${folder}/${name}.sol/${name}.json`, import.meta.url)
  try {
    return JSON.parse(readFileSync(url, 'utf8'))
  } catch (cause) {
    throw new Error(`${name} is not compiled yet: run \`npm run build -w contracts\``, { cause })
  }
}
