// Contract wallets that are not deployed yet: their signatures name the call that deploys them (ERC-6492).
import { randomBytes } from 'node:crypto'
import { walletDeploymentAbi, walletDeploymentCode } from '@referrer/protocol/abi'
import {
  type Address,
  bytesToHex,
  concat,
  encodeDeployData,
  getAddress,
  type Hex,
  isErc6492Signature,
  parseErc6492Signature,
} from 'viem'
import type { Call } from './probe.ts'

/** The call that deploys a wallet, as a stranger names it. */
export interface Deployment {
  factory: Address
  data: Hex
}

/** The CREATE2 factory of public networks, by which our own contracts are deployed, too. */
const CREATE2_FACTORY: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
/** Three times what a Safe with three owners takes. */
export const MOST_DEPLOYMENT_GAS = 1_000_000n

/** Undefined: the signature names no deployment. */
export function unwrapSignature(wrapped: Hex): (Deployment & { signature: Hex }) | undefined {
  if (!isErc6492Signature(wrapped)) return undefined
  try {
    const { address, data = '0x', signature } = parseErc6492Signature(wrapped)
    return address ? { factory: getAddress(address), data, signature } : undefined
  } catch {
    return undefined
  }
}

/**
 * Deploys a wallet from an address without rights. By the account that sends it, the factory is never called: a stranger could name the
 * router as factory. Each call has a salt of its own, since the CREATE2 factory takes the same code with the same salt once only.
 */
export function deploymentCall(wallet: Address, { factory, data }: Deployment): Call {
  const code = encodeDeployData({
    abi: walletDeploymentAbi,
    bytecode: walletDeploymentCode,
    args: [factory, data, wallet],
  })
  return {
    target: CREATE2_FACTORY,
    gas: MOST_DEPLOYMENT_GAS,
    data: concat([bytesToHex(randomBytes(32)), code]),
  }
}
