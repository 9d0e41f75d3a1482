import { fileURLToPath } from 'node:url'
import type { Hex } from 'viem'
import type { Command } from '../processes.ts'
import { CHAIN_ID } from './chain.ts'
import { CONTRACTS } from './contracts.ts'
import { PONDER_SCHEMA, ponderCommand } from './ponder.ts'

export type ContenderName = 'ours' | 'ponder'
export type Place = { rpcUrl: string; databaseUrl: string; pollIntervalMs: number; finalityDepth: number }
export type Contender = {
  name: ContenderName
  command(place: Place): Command
  /** Where a noun is kept. */
  tables: Record<string, string>
  /** How bytes are spelled in its columns. */
  bytes(hex: Hex): string
}

const MIRRORED = [
  'identities',
  'ownership_changes',
  'merchants',
  'merchant_roles',
  'products',
  'reviews',
  'review_edits',
  'escrows',
  'payouts',
]

export const ours: Contender = {
  name: 'ours',
  command: ({ rpcUrl, databaseUrl, pollIntervalMs, finalityDepth }) => ({
    args: [fileURLToPath(new URL('../../../packages/operator/src/main.ts', import.meta.url)), 'serve'],
    env: {
      DATABASE_URL: databaseUrl,
      PORT: '0',
      LOG_LEVEL: 'warn',
      CHAINS: JSON.stringify([
        {
          chainId: CHAIN_ID,
          rpcUrls: [rpcUrl],
          startBlock: 0,
          finalityDepth,
          pollIntervalMs,
          contracts: {
            AddressRegistry: unused(1),
            IdentityRegistry: CONTRACTS.identities,
            MerchantRegistry: CONTRACTS.merchants,
            ReviewRegistry: CONTRACTS.reviews,
            CommissionEscrow: CONTRACTS.escrow,
            SplitRouter: unused(2),
            USDC: unused(3),
          },
        },
      ]),
    },
  }),
  tables: {
    ...Object.fromEntries(MIRRORED.map((noun) => [noun, `chain.${noun}`])),
    agent_records: 'market.agents',
    product_records: 'market.products',
    review_records: 'market.reviews',
  },
  bytes: (hex) => `\\${hex.slice(1)}`,
}

export const ponder: Contender = {
  name: 'ponder',
  command: ponderCommand,
  tables: Object.fromEntries(
    [...MIRRORED, 'agent_records', 'product_records', 'review_records'].map((noun) => [
      noun,
      `${PONDER_SCHEMA}.${noun}`,
    ]),
  ),
  bytes: (hex) => hex,
}

/** A contract that no recorded event comes from. */
function unused(index: number): string {
  return `0x${index.toString(16).padStart(40, '0')}`
}
