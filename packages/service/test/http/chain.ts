// What people do on the chain, as far as the tests of several nouns need it.
import { confirmed } from '@referrer/contracts/local'
import type { TransactionReceipt } from 'viem'
import type { Call } from '../forking-chain.ts'
import type { TestMarket } from './market.ts'

export const DAY = 24 * 60 * 60

/** Sends a call and insists that it took effect. */
export async function send({ market }: Pick<TestMarket, 'market'>, made: Call): Promise<TransactionReceipt> {
  return confirmed(market, await market.client.sendTransaction(made))
}

/** The chain's time goes on; the service's does not. */
export async function travel({ market }: Pick<TestMarket, 'market'>, seconds: number): Promise<void> {
  await market.client.increaseTime({ seconds })
  await market.client.mine({ blocks: 1 })
}
