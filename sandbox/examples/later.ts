// Lets days pass on the sandbox's chain, and shows what the oracle settles then. Beside `npm start`:
//   node scripts/run.mjs sandbox/examples/later.ts [<days>]
// From then on the chain is ahead of everybody's clock, and what buyers sign has expired there: to buy again, start the sandbox again.
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { createTestClient, http, publicActions } from 'viem'
import { hardhat } from 'viem/chains'
import type { Decisions } from './answers.ts'
import { fail, runningSandbox } from './running.ts'
import { printAmount } from './split.ts'
import { waitFor } from './wait.ts'

/** The demo market has hundreds. */
const SHOWN = 20

const { state } = await runningSandbox()
const escrow = { address: state.contracts.CommissionEscrow, abi: commissionEscrowAbi } as const
const transport = http(state.rpcUrl)
const chain = createTestClient({ mode: 'hardhat', chain: hardhat, transport }).extend(publicActions)
const all = { fromBlock: 0n, strict: true } as const
const readSettled = () => chain.getContractEvents({ ...escrow, ...all, eventName: 'EscrowSettled' })

const days = Number(process.argv[2] ?? 60)
if (!(days > 0)) fail('how many days? A number above 0, or nothing for 60')
const before = await readSettled()
await chain.increaseTime({ seconds: days * 86_400 })
await chain.mine({ blocks: 1 })
const { timestamp } = await chain.getBlock()
console.log(`${days} days later it is ${new Date(Number(timestamp) * 1_000).toISOString().slice(0, 10)}`)

const deposits = await chain.getContractEvents({ ...escrow, ...all, eventName: 'EscrowDeposited' })
const ended = deposits.filter(({ args }) => args.windowEnd <= timestamp && args.heldBack + args.cashback > 0n)
const settled = await waitFor('settlements', readSettled, ({ length }) => length >= ended.length)
const settledNow = settled.slice(before.length)
if (settledNow.length > SHOWN) console.log(`${settledNow.length} escrows are settled; the newest ${SHOWN}:`)
for (const { args } of settledNow.slice(-SHOWN)) {
  const response = await fetch(`${state.baseUrl}/v1/escrow/${args.escrowId}/decisions`)
  const { decisions }: Decisions = await response.json()
  const { contradicted, cashback_earned } = decisions.find(({ kind }) => kind === 'settle') ?? {}
  console.log(`escrow ${args.escrowId}: contradicted ${contradicted}, cashback earned ${cashback_earned}`)
  // Escrows whose windows have ended share a transaction: its transfers are not those of one escrow.
  const paid = [
    ['reviewer', args.heldBackToReviewer],
    ['treasury', args.heldBackToTreasury],
    ['buyer', args.cashbackToBuyer],
    ['reviewer', args.cashbackToReviewer],
  ] as const
  for (const [to, amount] of paid) if (amount > 0n) printAmount(`escrow → ${to}`, amount)
}
