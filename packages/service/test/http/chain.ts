// What people do on the chain, as far as the tests of several nouns need it.
import { confirmed } from '@referrer/contracts/local'
import { type Address, erc20Abi, type LocalAccount, type TransactionReceipt } from 'viem'
import { call } from '../calls.ts'
import type { Call } from '../forking-chain.ts'
import type { TestMarket } from './market.ts'

export const DAY = 24 * 60 * 60

/** Sends a call and insists that it took effect. */
export async function send({ market }: Pick<TestMarket, 'market'>, made: Call): Promise<TransactionReceipt> {
  return confirmed(market, await market.client.sendTransaction(made))
}

/** Hands an agent to somebody else, and waits until that is in the records. */
export async function transfer(
  m: TestMarket,
  from: LocalAccount,
  to: Address,
  agentId: bigint,
): Promise<void> {
  await send(m, call(m, from, 'IdentityRegistry', 'transferFrom', [from.address, to, agentId]))
  await m.indexed()
}

/** What an account has, in base units. */
export const usdcOf = ({ market }: Pick<TestMarket, 'market'>, account: Address): Promise<bigint> =>
  market.client.readContract({
    address: market.addresses.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })

/** The chain's time goes on; the service's does not. */
export async function travel({ market }: Pick<TestMarket, 'market'>, seconds: number): Promise<void> {
  await market.client.increaseTime({ seconds })
  await market.client.mine({ blocks: 1 })
}
