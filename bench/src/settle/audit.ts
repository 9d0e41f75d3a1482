import { commissionEscrowAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { getAbiItem, type Hash, type Hex } from 'viem'
import type { Outcome } from './load.ts'
import type { Shop } from './market.ts'

/** What a payment leaves on the chain: the escrow of a purchase that was split, or the used authorisation of a bare transfer. */
export type Trace = 'escrow' | 'transfer'
export type Audit = {
  /** Payments that the chain settled, whatever was answered. */
  settled: number
  /** Of all that the relayers sent, for each payment settled. */
  gasEach: number
  transactions: number
  reverted: number
}

/** Reads what happened since a block. Throws when somebody was told of a settlement that is not there, or is there twice. */
export async function audit(
  { market: { client, addresses } }: Shop,
  trace: Trace,
  { since, outcomes }: { since: bigint; outcomes: readonly Outcome[] },
): Promise<Audit> {
  const until = await client.getBlockNumber()
  const range = { fromBlock: since + 1n, toBlock: until }
  const traces =
    trace === 'escrow'
      ? await client.getLogs({
          ...range,
          address: addresses.CommissionEscrow,
          event: getAbiItem({ abi: commissionEscrowAbi, name: 'EscrowDeposited' }),
          strict: true,
        })
      : await client.getLogs({
          ...range,
          address: addresses.USDC,
          event: getAbiItem({ abi: sandboxUSDCAbi, name: 'AuthorizationUsed' }),
          strict: true,
        })

  const settledIn = new Map<Hex, Hash>()
  for (const {
    args: { nonce },
    transactionHash,
  } of traces) {
    if (settledIn.has(nonce)) throw new Error(`the payment with nonce ${nonce} was settled twice`)
    settledIn.set(nonce, transactionHash)
  }
  for (const { payment, result } of outcomes) {
    if ('failure' in result) continue
    if (settledIn.get(payment.nonce) !== result.transaction) {
      throw new Error(`the chain knows nothing of ${result.transaction}, which was answered as a settlement`)
    }
  }

  const numbers = Array.from({ length: Number(until - since) }, (_, at) => since + 1n + BigInt(at))
  const blocks = await Promise.all(numbers.map((blockNumber) => client.getBlock({ blockNumber })))
  const hashes = blocks.flatMap(({ transactions }) => transactions)
  const useful = new Set(settledIn.values())
  const receipts = await Promise.all(
    hashes.filter((hash) => !useful.has(hash)).map((hash) => client.getTransactionReceipt({ hash })),
  )
  const gas = blocks.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
  return {
    settled: settledIn.size,
    gasEach: Number(gas) / settledIn.size,
    transactions: hashes.length,
    reverted: receipts.filter(({ status }) => status === 'reverted').length,
  }
}
