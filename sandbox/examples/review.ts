// What a buyer does after buying: votes, publishes a review of the purchase, and gets the cashback. Beside `npm start`, after buy.ts:
//   node scripts/run.mjs sandbox/examples/review.ts [<rating, 1 to 5>]
import { ContentHash, Money } from '@referrer/protocol'
import { commissionEscrowAbi, reviewRegistryAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { createWalletClient, http, parseEventLogs, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { hardhat } from 'viem/chains'
import { callerOf } from '../src/caller.ts'
import { accountOf } from '../src/program.ts'
import type { Escrow, ExplainedRank, Review, Reviewable } from './answers.ts'
import { fail, runningSandbox } from './running.ts'
import { printAmount } from './split.ts'
import { waitFor } from './wait.ts'

const rating = Number(process.argv[2] ?? 4)
if (![1, 2, 3, 4, 5].includes(rating)) fail('which rating? 1, 2, 3, 4 or 5, or nothing for 4')
const { state } = await runningSandbox()
const { CommissionEscrow, ReviewRegistry, USDC } = state.contracts
const { privateKey, agentId = 0 } = accountOf(state, 'buyer')
const buyer = privateKeyToAccount(privateKey)
const service = callerOf(state.baseUrl)
const transport = http(state.rpcUrl)
const chain = createWalletClient({ account: buyer, chain: hardhat, transport }).extend(publicActions)

// The newest purchase without a review, with the terms of its escrow.
const path = `/v1/agent/${agentId}/reviewable?needs_review=true`
const { products } = await service.get<{ products: Reviewable[] }>(buyer, path)
const [bought] = products.sort((a, b) => b.escrow_id - a.escrow_id)
if (!bought) fail('there is nothing to review: buy something first')
const { name, category, merchant_id, product_id, escrow_id } = bought
const [deposit] = await chain.getContractEvents({
  address: CommissionEscrow,
  abi: commissionEscrowAbi,
  eventName: 'EscrowDeposited',
  args: { escrowId: BigInt(escrow_id) },
  fromBlock: 0n,
  strict: true,
})
if (!deposit) throw new Error(`the chain does not know escrow ${escrow_id}`)
const terms = deposit.args
console.log(`escrow ${escrow_id}: ${name}, bought through review ${terms.reviewId}`)
const readEscrow = () => service.get<Escrow>(buyer, `/v1/escrow/${escrow_id}/status?agent_id=${agentId}`)
printLegs(await readEscrow())

// 1. Vote for a review of the product that helped. It is neither the one whose link was followed, nor one's own.
const listed = await fetch(`${state.baseUrl}/v1/review?merchant_id=${merchant_id}&product_id=${product_id}`)
const { reviews }: { reviews: Review[] } = await listed.json()
const helpful = reviews.find((r) => r.on_chain_id !== Number(terms.reviewId) && r.agent_id !== agentId)
if (helpful) {
  const votes = [{ review_id: helpful.internal_id, reasoning: 'It says what not to expect.' }]
  await service.inTwoSteps(buyer, '/v1/votes', { agent_id: agentId, escrow_id, votes })
  console.log(`voted for review ${helpful.on_chain_id}`)
}

// 2. Publish the hash of a review on the chain, with the escrow as the proof of purchase.
const cost = Money.format(terms.price)
const measured = {
  calls: 1,
  successes: 1,
  failures: 0,
  latency_ms: { p50: 90, p95: 90, p99: 90 },
  cost_usdc: cost,
  cost_per_call_usdc: cost,
}
const said = { rating, description: 'Did what it promises.' }
const content = JSON.stringify({ ...said, ...(category === 'api' && measured) })
const { merchantId, productId } = terms
const hash = await chain.writeContract({
  address: ReviewRegistry,
  abi: reviewRegistryAbi,
  functionName: 'publishWithEscrow',
  args: [CommissionEscrow, terms, ContentHash.contentHash({ agentId, merchantId, productId, content })],
})
const { logs } = await chain.waitForTransactionReceipt({ hash })
const [published] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
if (!published) throw new Error(`no review was published in ${hash}`)

// 3. Bring its text. The oracle sees that the cashback is earned, and pays it.
const before = await usdc()
const review_id = Number(published.args.reviewId)
await service.post(buyer, '/v1/review/register', { review_id, escrow_id, content_json: content })
console.log(`published review ${review_id}`)
const isPaid = ({ cashback: { status } }: Escrow) => status === 'released' || status === 'none'
printLegs(await waitFor('the cashback', readEscrow, isPaid))
console.log(`  ${'balance'.padEnd(22)}${Money.format(before)} → ${Money.format(await usdc())} USDC`)

// 4. What the vote did for the author of the other review.
if (helpful) {
  const path = `/v1/review-rank/${helpful.agent_id}?explain=true`
  const { repeat, explain } = await service.get<ExplainedRank>(buyer, path)
  console.log(`agent ${helpful.agent_id}, whom the vote was for, has rank ${repeat.rank} (repeat)`)
  for (const { kind, voter_agent_id, counts } of explain.repeat.evidence) {
    // What all buyers say of a review is of no one agent.
    const whose = voter_agent_id === undefined ? '' : ` of agent ${voter_agent_id}`
    console.log(`  ${kind}${whose}, counts ${counts}`)
  }
}

function printLegs({ held_back, cashback }: Escrow): void {
  printAmount('held back', held_back.amount, held_back.status)
  printAmount('cashback', cashback.amount, cashback.status)
}

function usdc(): Promise<bigint> {
  const balanceOf = { address: USDC, abi: sandboxUSDCAbi, functionName: 'balanceOf' } as const
  return chain.readContract({ ...balanceOf, args: [buyer.address] })
}
