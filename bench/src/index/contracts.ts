import {
  commissionEscrowAbi,
  identityRegistryAbi,
  merchantRegistryAbi,
  reviewRegistryAbi,
} from '@referrer/protocol/abi'
import type { Abi, Address, Hex } from 'viem'
import { eventEncoder, type Value } from './encode.ts'

export type MarketLog = { address: Address; topics: Hex[]; data: Hex }

export const CONTRACTS = {
  identities: '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432',
  merchants: '0x3e7c4a1d5b8f60927a13c5d8e4f2b6a09c1d7e35',
  reviews: '0x5a90b2c7d1e84f36a5c9078b1d2e3f4a6b7c8d9e',
  escrow: '0x7b1f3d5e9a2c4860b7d9e1f3a5c7092b4d6f8e1a',
} as const satisfies Record<string, Address>

export const identities = logsOf(CONTRACTS.identities, identityRegistryAbi)
export const merchantRegistry = logsOf(CONTRACTS.merchants, merchantRegistryAbi)
export const reviewRegistry = logsOf(CONTRACTS.reviews, reviewRegistryAbi)
export const commissionEscrow = logsOf(CONTRACTS.escrow, commissionEscrowAbi)

function logsOf(address: Address, abi: Abi) {
  const encode = eventEncoder(abi)
  return (name: string, args: Record<string, Value>): MarketLog => ({ address, ...encode(name, args) })
}
