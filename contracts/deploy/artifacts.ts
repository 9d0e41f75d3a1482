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
] as const
export type ContractName = (typeof CONTRACT_NAMES)[number]

export interface Artifact {
  abi: Abi
  bytecode: Hex
}

/** The compiled contract. */
export function readArtifact(name: ContractName): Artifact {
  const folder = name === 'SandboxUSDC' ? 'src/sandbox' : 'src'
  const url = new URL(`../artifacts/${folder}/${name}.sol/${name}.json`, import.meta.url)
  try {
    return JSON.parse(readFileSync(url, 'utf8'))
  } catch (cause) {
    throw new Error(`${name} is not compiled yet: run \`npm run build -w contracts\``, { cause })
  }
}
