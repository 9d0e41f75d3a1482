// Verification of signatures of contract wallets: deployed ones (ERC-1271), and those that are not deployed yet (ERC-6492).
import { RpcError } from '@referrer/chain'
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hash,
  type Hex,
  isErc6492Signature,
  numberToHex,
  parseAbi,
} from 'viem'
import type { Chain } from './context.ts'
import { unavailable } from './market-error.ts'

/** Length limit in characters; the signature of a contract wallet can contain its deployment data. */
export const LONGEST_SIGNATURE = 20_000

const abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** The full 32-byte answer is compared, because a contract that echoes the call data also begins with these four bytes. */
const ACCEPTED = `0x1626ba7e${'00'.repeat(28)}`
/** Gas limit of the check: enough to deploy and call a wallet, and a bound on the work of an untrusted contract. */
const GAS = numberToHex(2_000_000)
/** Sender of the simulated call. It is not the zero address, because some wallets accept every signature in calls from it. */
const CALL_SENDER = '0x0000000000000000000000000000000000006492'

/** Whether the wallet accepts the signature. Also false when the address is not a contract, because its answer is empty. */
export async function isSignedByWallet(
  { rpc }: Chain,
  address: Address,
  digest: Hash,
  signature: Hex,
): Promise<boolean> {
  const isWrapped = isErc6492Signature(signature)
  const call = isWrapped
    ? { data: validation(address, digest, signature) }
    : { to: address, data: encodeFunctionData({ abi, args: [digest, signature] }) }
  try {
    const answer = await rpc.request<Hex>('eth_call', [{ from: CALL_SENDER, ...call, gas: GAS }, 'latest'])
    return isWrapped ? answer === '0x01' : answer.slice(0, ACCEPTED.length) === ACCEPTED
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'reverted') return false
    throw unavailable(`wallet ${address}: check signature on-chain`, error)
  }
}

/** Code that deploys the wallet by the call in the signature and asks it then; it is run, and not deployed itself. */
const validation = (address: Address, digest: Hash, signature: Hex): Hex =>
  encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [address, digest, signature],
  })
