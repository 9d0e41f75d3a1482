// Where the money of a transaction went, as the chain tells it.
import { Money } from '@referrer/protocol'
import { commissionEscrowAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { type Address, createPublicClient, type Hash, http, type Log, parseEventLogs } from 'viem'
import type { SandboxChain } from '../src/state.ts'

/** Of a purchase. */
export async function printSplit(state: SandboxChain, transaction: Hash): Promise<void> {
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

function printTransfers({ contracts, accounts }: SandboxChain, logs: Log[]): void {
  const names = new Map<string, string>([
    ...accounts.map(({ role, address }) => [address, role] as const),
    [contracts.SplitRouter, 'router'],
    [contracts.CommissionEscrow, 'escrow'],
  ])
  // A shop that somebody opened, or its reviewer, has no name here.
  const nameOf = (address: Address) => names.get(address) ?? `${address.slice(0, 6)}…${address.slice(-4)}`
  for (const { args } of parseEventLogs({ abi: sandboxUSDCAbi, eventName: 'Transfer', logs }))
    printAmount(`${nameOf(args.from)} → ${nameOf(args.to)}`, args.value)
}

export function printAmount(name: string, amount: bigint | number, note = ''): void {
  console.log(`  ${name.padEnd(22)}${Money.format(BigInt(amount))} USDC${note && `  ${note}`}`)
}
