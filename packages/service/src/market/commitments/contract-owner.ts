// Verification of signatures of contract wallets (ERC-1271).
import { RpcError } from '@referrer/chain'
import { type Address, encodeFunctionData, type Hash, type Hex, numberToHex, parseAbi } from 'viem'
import type { Chain } from '../../kit/context.ts'
import { unavailable } from '../../kit/market-error.ts'

const abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** The full 32-byte answer is compared, because a contract that echoes the call data also begins with these four bytes. */
const ACCEPTED = `0x1626ba7e${'00'.repeat(28)}`
/** Gas limit of the check: enough for wallets with many keys, and a bound on the work of an untrusted contract. */
const GAS = numberToHex(2_000_000)

/** Whether the owner's contract accepts the signature. Also false when the owner is not a contract, because its answer is empty. */
export async function isSignedByContract(
  { rpc }: Chain,
  owner: Address,
  digest: Hash,
  signature: Hex,
): Promise<boolean> {
  const data = encodeFunctionData({ abi, args: [digest, signature] })
  try {
    const answer = await rpc.request<Hex>('eth_call', [{ to: owner, data, gas: GAS }, 'latest'])
    return answer.slice(0, ACCEPTED.length) === ACCEPTED
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'reverted') return false
    throw unavailable(`owner ${owner}: check signature on-chain`, error)
  }
}
