// An owner that is a contract says itself whether a signature is its own (ERC-1271).
import { RpcError } from '@referrer/chain'
import { type Address, encodeFunctionData, type Hash, type Hex, numberToHex, parseAbi } from 'viem'
import type { Chain } from '../../kit/context.ts'
import { unavailable } from '../../kit/market-error.ts'

const abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** The whole word: whoever echoes the call begins with the same four bytes. */
const ACCEPTED = `0x1626ba7e${'00'.repeat(28)}`
/** Enough for wallets of many keys; what a stranger's contract can make a node do must end. */
const GAS = numberToHex(2_000_000)

/** False, too, of an owner that is no contract: nobody answers there. */
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
