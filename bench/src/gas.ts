// What each on-chain step costs, beside the floor: a bare EIP-3009 transfer.
import { parseArgs } from 'node:util'
import {
  confirmed,
  deployMarket,
  developmentAccount,
  escrowDeposits,
  escrowTerms,
  listProduct,
  mintUsdc,
  openMerchant,
  type Product,
  type Purchase,
  publishWithProof,
  registerIdentity,
  SANDBOX_TOKEN,
  settlePurchases,
  signPurchase,
  startLocalChain,
} from '@referrer/contracts/local'
import { Attribution, Authorization } from '@referrer/protocol'
import { commissionEscrowAbi, reviewRegistryAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import {
  type Hex,
  keccak256,
  type LocalAccount,
  numberToHex,
  parseEventLogs,
  type TransactionReceipt,
  toBytes,
} from 'viem'
import { breakEven, costOf, priceByFee } from './break-even.ts'
import { createParts } from './parts.ts'
import { report, table } from './report.ts'

const { values: flags } = parseArgs({ options: { help: { type: 'boolean', default: false } } })
if (flags.help) {
  console.log(
    'npm run bench:gas\n\nGas of every on-chain step on a local EVM. Writes bench/results/gas.json.',
  )
  process.exit(0)
}

const PRICE = 25_000_000n
const DAY = 86_400

const { client, close } = await startLocalChain()
const market = await deployMarket(client)
const { accounts, addresses } = market
const gasOf = async (hash: Hex) => Number((await confirmed(market, hash)).gasUsed)

// Batches usually buy from the first four sellers. With as many sellers as items, no two items share a storage word.
const PEOPLE = 32
const RELEASED_IN_BATCH = `release cashback in a batch of ${PEOPLE}`
const SETTLED_IN_BATCH = `settle in a batch of ${PEOPLE}, cashback released before`
const gas = { list: 0, publish: 0 }
const sellers: { product: Product; reviewerAgentId: bigint; reviewId: bigint }[] = []
for (let index = 0; index < PEOPLE; index++) {
  const merchant = developmentAccount(100 + index)
  const reviewer = developmentAccount(200 + index)
  for (const { address } of [merchant, reviewer]) await client.setBalance({ address, value: 10n ** 18n })
  const product = {
    merchantId: await openMerchant(market, merchant),
    productId: keccak256(toBytes(`${index}`)),
  }
  gas.list = Number((await listProduct(market, merchant, product)).gasUsed)
  const agentId = await registerIdentity(market, reviewer)
  const content = '{"rating":5,"description":"does what it says"}'
  const published = await publishWithProof(market, reviewer, {
    agentId,
    product,
    content,
    proofId: BigInt(index + 1),
  })
  gas.publish = Number(published.receipt.gasUsed)
  sellers.push({ product, reviewerAgentId: agentId, reviewId: published.reviewId })
  // No balance starts at zero: writing an empty storage word costs 17,100 gas more, once for each account.
  for (const { address } of [merchant, reviewer, developmentAccount(300 + index)]) {
    await mintUsdc(market, address, 1_000_000_000n)
  }
}
const { buyer, merchant, treasury } = accounts
for (const address of [buyer.address, merchant.address, treasury.address, addresses.CommissionEscrow]) {
  await mintUsdc(market, address, 1_000_000_000n)
}

let purchases = 0
async function purchase(
  buyer: LocalAccount,
  type: Authorization.AuthorizationType,
  amongSellers = 4,
  buyerAgentId = Attribution.AGENTLESS_BUYER_ID,
): Promise<Purchase> {
  const seller = sellers[++purchases % amongSellers]
  if (!seller) throw new Error('no seller')
  return signPurchase(market, buyer, {
    value: PRICE,
    type,
    salt: numberToHex(purchases, { size: 32 }),
    attribution: {
      ...seller.product,
      reviewId: seller.reviewId,
      reviewerAgentId: seller.reviewerAgentId,
      buyerAgentId,
      cashbackOfCommissionBps: 2_000,
      commissionMultiplierBps: 7_000,
    },
  })
}

async function settleOne(
  buyer: LocalAccount,
  type: Authorization.AuthorizationType = 'ReceiveWithAuthorization',
) {
  const receipt = await settlePurchases(market, [await purchase(buyer, type)])
  return { gas: Number(receipt.gasUsed), terms: termsOf(receipt) }
}

function termsOf(receipt: TransactionReceipt) {
  const [deposit] = escrowDeposits(receipt)
  if (!deposit) throw new Error('no escrow was created')
  return escrowTerms(deposit)
}

async function perPurchase(size: number, amongSellers = 4): Promise<number> {
  const batch: Purchase[] = []
  for (let index = 0; index < size; index++) {
    batch.push(await purchase(developmentAccount(300 + index), 'ReceiveWithAuthorization', amongSellers))
  }
  const receipt = await settlePurchases(market, batch)
  if (escrowDeposits(receipt).length !== size) throw new Error(`a purchase of the batch of ${size} failed`)
  return Math.round(Number(receipt.gasUsed) / size)
}

/** An escrow of each buyer; all buyers are agents and have earned their cashback. */
async function escrowsOf(amongSellers: number) {
  const deposits: ReturnType<typeof termsOf>[] = []
  for (const [index, agentId] of buyerAgents.entries()) {
    const buyer = developmentAccount(300 + index)
    const one = await purchase(buyer, 'ReceiveWithAuthorization', amongSellers, agentId)
    deposits.push(termsOf(await settlePurchases(market, [one])))
  }
  return deposits
}

async function perEscrow(eventName: 'EscrowSettled' | 'CashbackReleased', hash: Hex): Promise<number> {
  const { logs, gasUsed } = await confirmed(market, hash)
  const done = parseEventLogs({ abi: commissionEscrowAbi, eventName, logs }).length
  if (done !== PEOPLE) throw new Error(`only ${done} escrows of a batch of ${PEOPLE} were done`)
  return Math.round(Number(gasUsed) / PEOPLE)
}

const releaseBatch = async (escrows: ReturnType<typeof termsOf>[]) =>
  perEscrow(
    'CashbackReleased',
    await client.writeContract({
      ...escrow,
      account: accounts.oracle,
      functionName: 'releaseBatch',
      args: [escrows],
    }),
  )

const settleBatch = async (escrows: ReturnType<typeof termsOf>[]) =>
  perEscrow(
    'EscrowSettled',
    await client.writeContract({
      ...escrow,
      account: accounts.oracle,
      functionName: 'settleBatch',
      args: [escrows.map((terms) => ({ terms, contradicted: false, cashbackEarned: true }))],
    }),
  )

async function bareTransfer(payer: LocalAccount): Promise<number> {
  const { timestamp } = await client.getBlock()
  const message = {
    from: payer.address,
    to: accounts.merchant.address,
    value: PRICE,
    validAfter: 0n,
    validBefore: timestamp + 3_600n,
    nonce: keccak256('0x01'),
  }
  const domain = { ...SANDBOX_TOKEN, chainId: client.chain.id, verifyingContract: addresses.USDC }
  const signature = await payer.signTypedData(
    Authorization.typedData('TransferWithAuthorization', domain, message),
  )
  const { from, to, value, validAfter, validBefore, nonce } = message
  const hash = await client.writeContract({
    account: accounts.settler,
    address: addresses.USDC,
    abi: sandboxUSDCAbi,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, signature],
  })
  return gasOf(hash)
}

async function pass(days: number) {
  await client.increaseTime({ seconds: days * DAY })
  await client.mine({ blocks: 1 })
}

const escrow = { address: addresses.CommissionEscrow, abi: commissionEscrowAbi } as const
const buyerAgents: bigint[] = []
for (let index = 0; index < PEOPLE; index++) {
  const buyer = developmentAccount(300 + index)
  await client.setBalance({ address: buyer.address, value: 10n ** 18n })
  buyerAgents.push(await registerIdentity(market, buyer))
}
/** What each step used, by its name. */
const figures: Record<string, number> = {}
const parts = createParts()
const measure = (step: string, work: () => Promise<number>) =>
  parts.run(step, async () => {
    figures[step] = await work()
  })
/** A step that needs an escrow of a purchase that failed fails too. */
function needed<T>(escrow: T | undefined): T {
  if (escrow === undefined) throw new Error('it needs a purchase that failed')
  return escrow
}

type Terms = ReturnType<typeof termsOf>
let bought: Terms | undefined
let boughtByTransfer: Terms | undefined
let bound: Terms | undefined

await measure('bare EIP-3009 transfer', () => bareTransfer(accounts.buyer))
await measure('purchase', async () => {
  await settleOne(accounts.buyer)
  const one = await settleOne(accounts.buyer)
  bought = one.terms
  return one.gas
})
await measure('purchase, transfer authorisation', async () => {
  const one = await settleOne(accounts.buyer, 'TransferWithAuthorization')
  boughtByTransfer = one.terms
  return one.gas
})
await measure('purchase in a batch of 4', () => perPurchase(4))
await measure('purchase in a batch of 16', () => perPurchase(16))
await measure('the same, 16 merchants and 16 reviewers', () => perPurchase(16, 16))
await measure('publish, approved proof', async () => gas.publish)
await measure('list', async () => gas.list)
await measure('bind', async () => {
  const terms = needed(bought)
  const buyerAgentId = await registerIdentity(market, accounts.buyer)
  const used = await gasOf(
    await client.writeContract({
      ...escrow,
      account: accounts.buyer,
      functionName: 'bind',
      args: [terms, buyerAgentId],
    }),
  )
  bound = { ...terms, buyerAgentId }
  return used
})
await measure('publish, escrow proof', async () =>
  gasOf(
    await client.writeContract({
      account: accounts.buyer,
      address: addresses.ReviewRegistry,
      abi: reviewRegistryAbi,
      functionName: 'publishWithEscrow',
      args: [addresses.CommissionEscrow, needed(bound), keccak256('0x02')],
    }),
  ),
)
await measure('release cashback', async () =>
  gasOf(
    await client.writeContract({
      ...escrow,
      account: accounts.oracle,
      functionName: 'releaseCashback',
      args: [needed(bound)],
    }),
  ),
)
const few = await parts.run(`${PEOPLE} escrows of 4 reviewers`, () => escrowsOf(4))
const apart = await parts.run(`${PEOPLE} escrows of ${PEOPLE} reviewers`, () => escrowsOf(PEOPLE))
const released = await parts.run(`${PEOPLE} more escrows`, () => escrowsOf(PEOPLE))
await measure(RELEASED_IN_BATCH, () => releaseBatch(needed(released)))
await pass(60)
await measure(`settle and pay the cashback in a batch of ${PEOPLE}`, () => settleBatch(needed(few)))
await measure(`the same, ${PEOPLE} reviewers`, () => settleBatch(needed(apart)))
await measure(SETTLED_IN_BATCH, () => settleBatch(needed(released)))
await measure('settle', async () =>
  gasOf(
    await client.writeContract({
      ...escrow,
      account: accounts.oracle,
      functionName: 'settle',
      args: [needed(bound), false, true],
    }),
  ),
)
await pass(10)
await measure('fallback', async () =>
  gasOf(
    await client.writeContract({
      ...escrow,
      account: accounts.stranger,
      functionName: 'settleFallback',
      args: [needed(boughtByTransfer)],
    }),
  ),
)
await close()

/** The targets, where there is one. base/commerce-payments publishes 165,167 for a charge, which has fewer legs than our purchase. */
const targets: Record<string, number> = {
  purchase: 165_000,
  'purchase in a batch of 16': 107_500,
  [RELEASED_IN_BATCH]: 45_000,
  [`settle and pay the cashback in a batch of ${PEOPLE}`]: 45_000,
  [`the same, ${PEOPLE} reviewers`]: 45_000,
  [SETTLED_IN_BATCH]: 45_000,
}
const floor = figures['bare EIP-3009 transfer'] ?? Number.NaN
report({
  name: 'gas',
  figures,
  ratios: Object.fromEntries(
    Object.entries(figures).map(([step, used]) => [`${step} / bare transfer`, used / floor]),
  ),
  rows: Object.entries(figures).map(([step, used]) => ({
    step,
    gas: used.toLocaleString('en'),
    'to bare transfer': (used / floor).toFixed(2),
    target: targets[step]
      ? `≤ ${targets[step].toLocaleString('en')} ${used <= targets[step] ? '✓' : '✗'}`
      : '',
  })),
  failed: parts.failed,
})

/** A purchase, the release of its cashback and its settlement: the most expensive course that a payment can take. */
const lives = {
  'oracle in batches': ['purchase', RELEASED_IN_BATCH, SETTLED_IN_BATCH],
  'each alone': ['purchase', 'release cashback', 'settle'],
}
const gasOfLife = (steps: readonly string[]) =>
  BigInt(steps.reduce((sum, step) => sum + needed(figures[step]), 0))
for (const [life, steps] of Object.entries(lives))
  await parts.run(`least payment, ${life}`, async () => {
    const used = gasOfLife(steps)
    console.log(
      `\nleast payment, in USDC base units, that is worth the ${used} gas of all its steps (${life})\n`,
    )
    console.log(table(breakEven(used, (cost) => cost)))
    console.log('\nprice at which our fee alone pays for it (10 % commission × 0.65, of which 10 %)\n')
    console.log(table(breakEven(used, priceByFee)))
  })
await parts.run('least amount', async () =>
  console.log(
    `\nThe default least amount of 10,000 comes from the cell of 0.01 gwei and ETH at 3,000 with each step alone: ` +
      `${costOf(gasOfLife(lives['each alone']), '0.01', 3_000n)}, rounded up.`,
  ),
)
