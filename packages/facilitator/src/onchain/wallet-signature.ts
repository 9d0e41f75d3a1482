// Contract wallets say themselves whether a signature is theirs (ERC-1271).
import { type Address, encodeFunctionData, type Hash, type Hex, parseAbi } from 'viem'
import type { Call, Outcome } from './probe.ts'

const abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const ACCEPTED = '0x1626ba7e'
const WORD = 66
/** Whatever wallet needs no more can pay: the trial of a payment has as much beside what a purchase takes. */
export const CHECK_GAS = 250_000n

/** `isAccepted` reads what it returns. */
export const askWallet = (target: Address, gas: bigint, hash: Hash, signature: Hex): Call => ({
  target,
  gas,
  data: encodeFunctionData({ abi, args: [hash, signature] }),
})

export const isAccepted = (outcome: Outcome | undefined): boolean =>
  !!outcome?.ok && outcome.data.length >= WORD && outcome.data.startsWith(ACCEPTED)
