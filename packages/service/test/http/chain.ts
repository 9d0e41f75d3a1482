// Actions on the chain that several tests need.
import { confirmed } from '@referrer/contracts/local'
import { type Address, erc20Abi, type LocalAccount, type TransactionReceipt } from 'viem'
import { call } from '../calls.ts'
import type { Call } from '../forking-chain.ts'
import type { TestMarket } from './market.ts'

export const DAY = 24 * 60 * 60

/** Sends a call and requires its success. */
export async function send({ market }: Pick<TestMarket, 'market'>, made: Call): Promise<TransactionReceipt> {
  return confirmed(market, await market.client.sendTransaction(made))
}

/** Transfers an agent to another owner, and waits until it is indexed. */
export async function transfer(
  m: TestMarket,
  from: LocalAccount,
  to: Address,
  agentId: bigint,
): Promise<void> {
  await send(m, call(m, from, 'IdentityRegistry', 'transferFrom', [from.address, to, agentId]))
  await m.indexed()
}

/** The USDC balance of an account, in base units. */
export const usdcOf = ({ market }: Pick<TestMarket, 'market'>, account: Address): Promise<bigint> =>
  market.client.readContract({
    address: market.addresses.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })

/** Moves the chain's time forward, but not the service's. */
export async function travel({ market }: Pick<TestMarket, 'market'>, seconds: number): Promise<void> {
  await market.client.increaseTime({ seconds })
  await market.client.mine({ blocks: 1 })
}
