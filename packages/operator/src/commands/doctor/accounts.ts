// The accounts that send: gas, and transactions that are stuck.
import { type Address, formatEther, type Hex, hexToBigInt } from 'viem'
import type { ReadableChain, World } from './chains.ts'
import { type Examination, fine, type Verdict, warning, wrong } from './examination.ts'
import type { Subject } from './subject.ts'

const GWEI = 1_000_000_000n
/** Of one transaction of ours, with room. */
const GAS = 300_000n
const TRANSACTIONS = 100n
/** A transaction that was just sent is mined by then. */
const STUCK_AFTER_MS = 3_000

export function checkAccounts(
  examination: Examination,
  { accounts }: Subject,
  { chainId }: { chainId: number },
  needs: Promise<ReadableChain>,
  world: World,
): void {
  const group = `accounts on ${chainId}`
  const advice = 'look whether the nodes answer, and run it again'
  for (const { job, address } of accounts) {
    const who = `the ${job} ${address}`
    examination.check({
      group,
      name: `gas of ${who}`,
      needs,
      advice,
      run: (chain: ReadableChain) => judgeBalance(chain, address),
    })
    examination.check({
      group,
      name: `nonces of ${who}`,
      needs,
      advice,
      run: (chain: ReadableChain) => judgeNonces(chain, address, world),
    })
  }
}

async function judgeBalance(
  { rpc, config, chainId }: ReadableChain,
  address: Address,
): Promise<Verdict<undefined>> {
  const [balance, current] = await Promise.all(
    [rpc.request<Hex>('eth_getBalance', [address, 'latest']), rpc.request<Hex>('eth_gasPrice', [])].map(
      async (answer) => hexToBigInt(await answer),
    ),
  )
  if (balance === undefined || current === undefined) throw new Error('no answer')
  // The sender offers up to twice the current price, and never more than the configured one.
  const most = BigInt(config.maxFeePerGasGwei) * GWEI
  let price = 2n * current
  if (price > most) price = most
  const cost = GAS * price
  const says = `${formatEther(balance)} ETH, and ${TRANSACTIONS} transactions cost up to ${formatEther(TRANSACTIONS * cost)}`
  const next = `send ${formatEther(TRANSACTIONS * cost - balance)} ETH to ${address} on chain ${chainId}`
  if (balance < cost) return wrong(says, next)
  return balance < TRANSACTIONS * cost ? warning(says, next) : fine(says)
}

async function judgeNonces(
  { rpc, chainId }: ReadableChain,
  address: Address,
  { sleep }: World,
): Promise<Verdict<undefined>> {
  const count = async (tag: 'latest' | 'pending') =>
    hexToBigInt(await rpc.request<Hex>('eth_getTransactionCount', [address, tag]))
  const mined = await count('latest')
  if ((await count('pending')) === mined) return fine('nothing waits')
  await sleep(STUCK_AFTER_MS)
  const [now, pending] = [await count('latest'), await count('pending')]
  return now === mined && pending !== now
    ? warning(
        `${pending - now} transactions wait, and none was mined for ${STUCK_AFTER_MS / 1_000} s`,
        `look at sender.intents and at nonce ${now} of ${address} on chain ${chainId}: its fee may be too low`,
      )
    : fine('transactions are being mined')
}
