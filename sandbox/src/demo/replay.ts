import type { Addresses } from '@referrer/contracts/deploy'
import { developmentAccount, escrowDeposits, type Market } from '@referrer/contracts/local'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { decodeFunctionData, encodeFunctionData, type Hex, numberToHex } from 'viem'
import { type Call, MAKE, type Snapshot } from './snapshot.ts'

/** Sends the transactions of the demo again, in blocks of their time, and ends with one of now. */
export async function replay(
  market: Market,
  { contracts, calls }: Snapshot,
  { endsAt }: { endsAt: number },
): Promise<void> {
  const { client, addresses } = market
  if (Object.entries(contracts).some(([name, address]) => addresses[name as keyof Addresses] !== address))
    throw new Error(
      `the contracts are not those that the demo market was made with: make it anew with ${MAKE}`,
    )
  const end = Math.floor(endsAt / 1_000)
  const windowEnds = new Map<bigint, bigint>()
  for (const { at, from, to, gas, data } of calls) {
    await client.setNextBlockTimestamp({ timestamp: BigInt(end + at) })
    const transaction = {
      from: developmentAccount(from).address,
      to: addresses[to],
      gas: numberToHex(gas),
      data: to === 'ReviewRegistry' ? atItsTime(data, windowEnds) : data,
    }
    const hash = await client.request({ method: 'eth_sendTransaction', params: [transaction] })
    if (to !== 'SplitRouter') continue
    for (const { escrowId, windowEnd } of escrowDeposits(await client.getTransactionReceipt({ hash })))
      windowEnds.set(escrowId, windowEnd)
  }
  await client.setNextBlockTimestamp({ timestamp: BigInt(Math.floor(Date.now() / 1_000)) })
  await client.mine({ blocks: 1 })
}

/** A buyer's review names the terms of the escrow, and with them the end of its window, which moves with the history. */
function atItsTime(data: Call['data'], windowEnds: ReadonlyMap<bigint, bigint>): Hex {
  const call = decodeFunctionData({ abi: reviewRegistryAbi, data })
  if (call.functionName !== 'publishWithEscrow') return data
  const [escrow, terms, hash] = call.args
  const windowEnd = windowEnds.get(terms.escrowId) ?? terms.windowEnd
  return encodeFunctionData({
    abi: reviewRegistryAbi,
    functionName: 'publishWithEscrow',
    args: [escrow, { ...terms, windowEnd }, hash],
  })
}
