// Lets days pass on the sandbox's chain, and shows what the oracle settles then. Beside `npm start`:
//   node scripts/run.mjs sandbox/examples/later.ts [<days>]
// From then on the chain is ahead of everybody's clock, and what buyers sign has expired there: to buy again, start the sandbox again.
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { createTestClient, http, publicActions } from 'viem'
import { hardhat } from 'viem/chains'
import type { Decisions } from './answers.ts'
import { runningSandbox } from './running.ts'
import { printTransfers } from './split.ts'
import { waitFor } from './wait.ts'

const { state } = await runningSandbox()
const escrow = { address: state.contracts.CommissionEscrow, abi: commissionEscrowAbi } as const
const transport = http(state.rpcUrl)
const chain = createTestClient({ mode: 'hardhat', chain: hardhat, transport }).extend(publicActions)
const all = { fromBlock: 0n, strict: true } as const
const readSettled = () => chain.getContractEvents({ ...escrow, ...all, eventName: 'EscrowSettled' })

const days = Number(process.argv[2] ?? 60)
if (!(days > 0)) throw new Error('how many days? A number above 0, or nothing for 60')
const before = await readSettled()
await chain.increaseTime({ seconds: days * 86_400 })
await chain.mine({ blocks: 1 })
const { timestamp } = await chain.getBlock()
console.log(`${days} days later it is ${new Date(Number(timestamp) * 1_000).toISOString().slice(0, 10)}`)

const deposits = await chain.getContractEvents({ ...escrow, ...all, eventName: 'EscrowDeposited' })
const ended = deposits.filter(({ args }) => args.windowEnd <= timestamp && args.heldBack + args.cashback > 0n)
const settled = await waitFor('settlements', readSettled, ({ length }) => length >= ended.length)
for (const { args, transactionHash, logIndex } of settled.slice(before.length)) {
  const response = await fetch(`${state.baseUrl}/v1/escrow/${args.escrowId}/decisions`)
  const { decisions }: Decisions = await response.json()
  const { contradicted, cashback_earned } = decisions.find(({ kind }) => kind === 'settle') ?? {}
  console.log(`escrow ${args.escrowId}: contradicted ${contradicted}, cashback earned ${cashback_earned}`)
  const { logs } = await chain.getTransactionReceipt({ hash: transactionHash })
  // One transaction settles many: what belongs to this one stands between its event and that of the next.
  const next = settled.find((each) => each.transactionHash === transactionHash && each.logIndex > logIndex)
  const own = logs.filter((log) => log.logIndex > logIndex && log.logIndex < (next?.logIndex ?? Infinity))
  printTransfers(state, own)
}
