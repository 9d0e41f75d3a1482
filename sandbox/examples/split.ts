// Where the money of a purchase went, as the chain tells it.
import { Money } from '@referrer/protocol'
import { commissionEscrowAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { createPublicClient, type Hash, http, parseEventLogs } from 'viem'
import type { SandboxState } from '../src/state.ts'

export async function printSplit(
  { rpcUrl, contracts, accounts }: SandboxState,
  transaction: Hash,
): Promise<void> {
  const chain = createPublicClient({ transport: http(rpcUrl) })
  const { logs } = await chain.waitForTransactionReceipt({ hash: transaction })
  const names = new Map<string, string>([
    ...accounts.map(({ role, address }) => [address, role] as const),
    [contracts.SplitRouter, 'router'],
    [contracts.CommissionEscrow, 'escrow'],
  ])
  const row = (name: string, amount: bigint) =>
    console.log(`  ${name.padEnd(22)}${Money.format(amount)} USDC`)
  console.log(`\n${transaction}`)
  for (const { args } of parseEventLogs({ abi: sandboxUSDCAbi, eventName: 'Transfer', logs }))
    row(`${names.get(args.from)} → ${names.get(args.to)}`, args.value)
  for (const { args } of parseEventLogs({ abi: commissionEscrowAbi, eventName: 'EscrowDeposited', logs })) {
    console.log(`of that, in escrow ${args.escrowId}`)
    row('held back', args.heldBack)
    row('cashback', args.cashback)
    row('fee', args.fee)
  }
}
