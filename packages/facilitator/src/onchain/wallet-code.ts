// The code that a wallet runs. Wallets with the same code share their limits, so that nobody gains by making many.
import { type Address, type Hash, type Hex, keccak256 } from 'viem'
import type { Chain } from '../context.ts'

/** Code that only delegates to other code: EIP-7702 accounts, and minimal proxies (ERC-1167 and the one with PUSH0), with any suffix. */
const NAMES = [
  /^0xef0100([0-9a-f]{40})$/,
  /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d/,
  /^0x5f5f365f5f37365f73([0-9a-f]{40})5af43d/,
]
const MOST_STEPS = 2
const PATIENCE = { timeoutMs: 3_000 }

export async function codeHash({ rpc }: Pick<Chain, 'rpc'>, wallet: Address): Promise<Hash> {
  let address = wallet
  for (let step = 0; ; step += 1) {
    const code = await rpc.request<Hex>('eth_getCode', [address, 'latest'], PATIENCE)
    const [, target] = NAMES.map((name) => name.exec(code)).find((match) => match !== null) ?? []
    if (target === undefined || step === MOST_STEPS) return keccak256(code)
    address = `0x${target}`
  }
}
