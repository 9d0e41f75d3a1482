import type { Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Web3SignerConfig } from './web3signer.ts'

export const KEY: Hex = `0x${'11'.repeat(32)}`
export const ADDRESS = privateKeyToAddress(KEY)
export const TRANSACTION = {
  type: 'eip1559',
  chainId: 8453,
  nonce: 7,
  to: '0x00000000000000000000000000000000000000aa',
  data: '0xabcdef',
  value: 5n,
  gas: 90_000n,
  maxFeePerGas: 100n,
  maxPriorityFeePerGas: 2n,
} as const

export const doorOf = (
  { url }: { url: string },
  change: Partial<Web3SignerConfig> = {},
): Web3SignerConfig => ({
  url,
  token: undefined,
  ca: undefined,
  cert: undefined,
  key: undefined,
  // A busy machine is slow; tests of silence set less.
  timeoutMs: 20_000,
  ...change,
})
