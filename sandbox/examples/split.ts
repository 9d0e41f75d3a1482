// Where the money of a transaction went, as the chain tells it.
import { Money } from '@referrer/protocol'
import { commissionEscrowAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { createPublicClient, type Hash, http, type Log, parseEventLogs } from 'viem'
import type { SandboxState } from '../src/state.ts'

/** Of a purchase. */
export async function printSplit(state: SandboxState, transaction: Hash): Promise<void> {
  const chain = createPublicClient({ transport: http(state.rpcUrl) })
  const { logs } = await chain.waitForTransactionReceipt({ hash: transaction })
  console.log(`\n${transaction}`)
  printTransfers(state, logs)
  for (const { args } of parseEventLogs({ abi: commissionEscrowAbi, eventName: 'EscrowDeposited', logs })) {
    console.log(`of that, in escrow ${args.escrowId}`)
    printAmount('held back', args.heldBack)
    printAmount('cashback', args.cashback)
    printAmount('fee', args.fee)
  }
}

function printTransfers({ contracts, accounts }: SandboxState, logs: Log[]): void {
  const names = new Map<string, string>([
    ...accounts.map(({ role, address }) => [address, role] as const),
    [contracts.SplitRouter, 'router'],
    [contracts.CommissionEscrow, 'escrow'],
  ])
  for (const { args } of parseEventLogs({ abi: sandboxUSDCAbi, eventName: 'Transfer', logs }))
    printAmount(`${names.get(args.from)} → ${names.get(args.to)}`, args.value)
}

export function printAmount(name: string, amount: bigint | number, note = ''): void {
  console.log(`  ${name.padEnd(22)}${Money.format(BigInt(amount))} USDC${note && `  ${note}`}`)
}
