// Balances of the accounts that send our transactions.
import { type Address, type Hex, hexToBigInt } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { bestEffort } from '../../kit/onchain.ts'

/** An account is low when it cannot pay for this much gas at the highest fee that we would bid: about ten batches of settlements. */
const LEAST_GAS = 10_000_000n
const GWEI = 1_000_000_000n

export interface OwnAccount {
  role: 'oracle' | 'publisher'
  chainId: number
  address: Address
  /** In wei; undefined when the chain cannot be read. */
  balance: bigint | undefined
  /** In wei; with less it should be filled up soon. */
  reserve: bigint
}

/** Every account on every chain. */
export function readAccounts({ config, chains }: Pick<Context, 'config' | 'chains'>): Promise<OwnAccount[]> {
  const roles = [
    ['oracle', config.oracle],
    ['publisher', config.publisher],
  ] as const
  const held = roles.flatMap(([role, account]) => (account ? [{ role, address: account.address }] : []))
  return Promise.all(
    [...chains.values()].flatMap((chain) =>
      held.map(async ({ role, address }) => ({
        role,
        chainId: chain.config.chainId,
        address,
        balance: await bestEffort(chain, (options) => balanceOf(chain, address, options)),
        reserve: LEAST_GAS * BigInt(chain.config.maxFeePerGasGwei) * GWEI,
      })),
    ),
  )
}

const balanceOf = async ({ rpc }: Chain, address: Hex, options: { timeoutMs: number }): Promise<bigint> =>
  hexToBigInt(await rpc.request<Hex>('eth_getBalance', [address, 'latest'], options))
