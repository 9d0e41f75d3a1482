// Random people who do everything that the contracts let them do. What they try may be refused; that, too, is a transaction.
import { int, pick } from '@referrer/chain/testing'
import { developmentAccount, signPurchase } from '@referrer/contracts/local'
import { Attribution, Commitment, ContentHash } from '@referrer/protocol'
import {
  commissionEscrowAbi,
  identityRegistryAbi,
  merchantRegistryAbi,
  reviewRegistryAbi,
  sandboxUSDCAbi,
  splitRouterAbi,
} from '@referrer/protocol/abi'
import {
  type Abi,
  type Address,
  encodeFunctionData,
  type Hex,
  keccak256,
  type LocalAccount,
  numberToHex,
  stringToHex,
  toHex,
} from 'viem'
import type { Call, ForkingChain } from './forking-chain.ts'
import type { Escrow, Identity, Product, World } from './world.ts'

/** Whoever owns agents and merchants, buys and writes. */
export const TRADERS: LocalAccount[] = [12, 13, 14, 15, 16].map(developmentAccount)

const ODD_TEXTS = [
  '',
  'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi',
  `it's "quoted", {curly}, NULL, \\back\\\\slashed\\`,
  'a\0character\0zero',
  '🦊 emoji, ümläut, 漢字,\n\tlines',
  `data:application/json,${'{"name":"long"}'.repeat(60)}`,
  '\\x00ff',
]
const CONTENTS = ['{"a":1}', '{"text":"it\'s fine"}', '{}', '{"text":"🦊"}']
const ROLE = keccak256(stringToHex('SETTLEMENT_SIGNER_ROLE'))
const FIVE_MINUTES = 300n

/** One idea of what to do next: its calls are mined in one block. Undefined when there is nothing to do it with. */
type Idea = (trade: Trade) => Promise<Call[] | undefined> | Call[] | undefined

interface Trade {
  chain: ForkingChain
  world: World
  random: () => number
  /** The time of the block that the calls are for. */
  now: bigint
}

/** Some things that people do next, as the world is now, in a block of that time. */
export async function randomCalls(
  chain: ForkingChain,
  random: () => number,
  count: number,
  now: bigint,
): Promise<Call[]> {
  const trade = { chain, world: chain.world(), random, now }
  const calls: Call[] = []
  for (let tries = 0; calls.length < count && tries < 50; tries += 1)
    calls.push(...((await pick(random, IDEAS)(trade)) ?? []))
  return calls
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
const traderAt = (address: Hex | undefined) => TRADERS.find((trader) => same(trader.address, address ?? ''))
const some = <T>(random: () => number, rows: T[]): T | undefined =>
  rows.length ? pick(random, rows) : undefined
const newId = (random: () => number) => toHex(Math.floor(random() * 2 ** 48), { size: 32 })

function call(
  { chain }: Trade,
  account: LocalAccount | undefined,
  contract: keyof ForkingChain['market']['addresses'],
  abi: Abi,
  functionName: string,
  args: unknown[],
): Call[] {
  if (!account) return []
  const to = chain.market.addresses[contract]
  return [{ account, to, data: encodeFunctionData({ abi, functionName, args }) }]
}

// ---- identities

const onIdentity = (trade: Trade, { owner }: Identity, functionName: string, args: unknown[]) =>
  call(trade, traderAt(owner), 'IdentityRegistry', identityRegistryAbi, functionName, args)

const register: Idea = (trade) => {
  const { random } = trade
  const owner = pick(random, TRADERS)
  const uri = pick(random, ODD_TEXTS)
  const args = pick(random, [[], [uri], [uri, [{ metadataKey: 'note', metadataValue: '0x0102' }]]])
  const made = call(trade, owner, 'IdentityRegistry', identityRegistryAbi, 'register', args)
  if (random() < 0.6) return made
  // A guess at the new identity's number, so that one block makes and changes a row.
  const agentId = BigInt(trade.world.identities.length)
  const to = pick(random, TRADERS).address
  const [next, parameters] =
    random() < 0.5 ? ['transferFrom', [owner.address, to, agentId]] : ['setAgentURI', [agentId, 'guessed']]
  return [...made, ...call(trade, owner, 'IdentityRegistry', identityRegistryAbi, next, parameters)]
}

const changeIdentity: Idea = async (trade) => {
  const { random, world, chain, now } = trade
  const identity = some(random, world.identities)
  if (!identity) return
  const id = identity.agent_id
  switch (int(random, 0, 5)) {
    case 0:
      return onIdentity(trade, identity, 'setAgentURI', [id, pick(random, ODD_TEXTS)])
    case 1:
      return onIdentity(trade, identity, 'setMetadata', [id, 'note', numberToHex(int(random, 0, 255))])
    case 2:
      return onIdentity(trade, identity, 'unsetAgentWallet', [id])
    case 3:
      return onIdentity(trade, identity, 'transferFrom', [identity.owner, pick(random, TRADERS).address, id])
    default: {
      const wallet = pick(random, TRADERS)
      const deadline = now + FIVE_MINUTES
      const signature = await wallet.signTypedData({
        domain: {
          ...{ name: 'ERC8004IdentityRegistry', version: '1', chainId: chain.chainId },
          verifyingContract: chain.market.addresses.IdentityRegistry,
        },
        types: {
          AgentWalletSet: [
            { name: 'agentId', type: 'uint256' },
            { name: 'newWallet', type: 'address' },
            { name: 'owner', type: 'address' },
            { name: 'deadline', type: 'uint256' },
          ],
        },
        primaryType: 'AgentWalletSet',
        message: { agentId: id, newWallet: wallet.address, owner: identity.owner, deadline },
      })
      return onIdentity(trade, identity, 'setAgentWallet', [id, wallet.address, deadline, signature])
    }
  }
}

// ---- merchants: identities with an even number

const merchantOf = ({ random, world }: Trade) =>
  some(
    random,
    world.identities.filter(({ agent_id }) => agent_id % 2n === 0n),
  )

const onMerchant = (trade: Trade, { owner }: Identity, functionName: string, args: unknown[]) =>
  call(trade, traderAt(owner), 'MerchantRegistry', merchantRegistryAbi, functionName, args)

const openOrClose: Idea = (trade) => {
  const merchant = merchantOf(trade)
  return merchant && onMerchant(trade, merchant, 'setActive', [merchant.agent_id, trade.random() < 0.85])
}

const changeMerchant: Idea = (trade) => {
  const { random, chain } = trade
  const merchant = merchantOf(trade)
  if (!merchant) return
  const id = merchant.agent_id
  const somebody = pick(random, TRADERS).address
  switch (int(random, 0, 2)) {
    case 0: {
      const { guardian } = chain.market.accounts
      const suspended = random() < 0.3
      return call(trade, guardian, 'MerchantRegistry', merchantRegistryAbi, 'setSuspended', [id, suspended])
    }
    case 1:
      return onMerchant(trade, merchant, 'setPayoutWallet', [id, somebody])
    default:
      return onMerchant(trade, merchant, random() < 0.7 ? 'grantRole' : 'revokeRole', [id, ROLE, somebody])
  }
}

const listProduct: Idea = (trade) => {
  const { random } = trade
  const merchant = merchantOf(trade)
  if (!merchant) return
  const [id, productId] = [merchant.agent_id, newId(random)]
  const terms = [int(random, 0, 5_000), BigInt(int(random, 0, 1_000))]
  const card = pick(random, ODD_TEXTS)
  const listed = onMerchant(trade, merchant, 'listProduct', [
    id,
    productId,
    ...terms,
    int(random, 0, 1),
    card,
  ])
  return random() < 0.7
    ? listed
    : [...listed, ...onMerchant(trade, merchant, 'setProductTerms', [id, productId, 77, 2n ** 40n])]
}

const changeProduct: Idea = (trade) => {
  const { random, world } = trade
  const product = some(random, world.products)
  const merchant = world.identities.find(({ agent_id }) => agent_id === product?.merchant_id)
  if (!product || !merchant) return
  const key = [product.merchant_id, product.product_id]
  switch (int(random, 0, 2)) {
    case 0:
      return onMerchant(trade, merchant, 'setProductActive', [...key, random() < 0.7])
    case 1:
      return onMerchant(trade, merchant, 'setProductTerms', [...key, int(random, 0, 10_000), 0n])
    default:
      return onMerchant(trade, merchant, 'setProductCard', [...key, pick(random, ODD_TEXTS).repeat(3)])
  }
}

// ---- reviews

const publishWithProof: Idea = async (trade) => {
  const { random, world, chain, now } = trade
  const product = some(random, world.products)
  const author = some(random, world.identities)
  const owner = traderAt(author?.owner)
  if (!product || !author || !owner) return
  const proofId = BigInt(int(random, 1, 2 ** 40))
  const about = { agentId: author.agent_id, merchantId: product.merchant_id, productId: product.product_id }
  const message = {
    ...about,
    contentHash: ContentHash.contentHash({ ...about, content: pick(random, CONTENTS) }),
    nonce: numberToHex(proofId, { size: 32 }),
    expiry: Commitment.expiryAt(Number(now)),
  }
  const commitment = Commitment.from('ReviewCommitment', {
    chainId: chain.chainId,
    reviewRegistry: chain.market.addresses.ReviewRegistry,
    message,
  })
  const signature = await owner.signTypedData(commitment as Parameters<typeof owner.signTypedData>[0])
  const signed = { ...message, nonce: proofId, expiry: BigInt(message.expiry) }
  const { publisher } = chain.market.accounts
  const args = [proofId, signed, signature]
  return call(trade, publisher, 'ReviewRegistry', reviewRegistryAbi, 'publishWithProof', args)
}

const publishWithEscrow: Idea = (trade) => {
  const { random, world, chain } = trade
  const escrow = some(
    random,
    world.escrows.filter(({ buyer_agent_id }) => buyer_agent_id !== null),
  )
  const buyer = world.identities.find(({ agent_id }) => agent_id === escrow?.buyer_agent_id)
  if (!escrow || !buyer) return
  const hash = keccak256(newId(random))
  const args = [chain.market.addresses.CommissionEscrow, termsOf(escrow), hash]
  return call(trade, traderAt(buyer.owner), 'ReviewRegistry', reviewRegistryAbi, 'publishWithEscrow', args)
}

const editContent: Idea = (trade) => {
  const { random, world } = trade
  const review = some(
    random,
    world.reviews.filter(({ proof_kind }) => proof_kind === 2),
  )
  const author = world.identities.find(({ agent_id }) => agent_id === review?.agent_id)
  if (!review) return
  const edit = () =>
    call(trade, traderAt(author?.owner), 'ReviewRegistry', reviewRegistryAbi, 'editContent', [
      review.review_id,
      keccak256(newId(random)),
    ])
  return random() < 0.7 ? edit() : [...edit(), ...edit()]
}

// ---- purchases and what becomes of them

const buy: Idea = async (trade) => {
  const { random, world, chain } = trade
  const isOpen = ({ merchant_id, active }: Product) =>
    active && world.merchants.some((row) => row.merchant_id === merchant_id && row.active && !row.suspended)
  const purchases = []
  const size = random() < 0.6 ? 1 : 3
  for (let count = 0; count < size; count += 1) {
    const product = some(random, world.products.filter(isOpen))
    const reviewer = some(random, world.identities)
    if (!product || !reviewer) return
    const payer = pick(random, TRADERS)
    const own = world.identities.filter(({ owner }) => same(owner, payer.address))
    const buyer = random() < 0.5 ? undefined : some(random, own)
    const purchase = await signPurchase(chain.market, payer, {
      value: product.min_price + BigInt(int(random, 1, 10_000_000)),
      salt: newId(random),
      attribution: {
        merchantId: product.merchant_id,
        productId: product.product_id,
        reviewId: some(random, world.reviews)?.review_id ?? 0n,
        reviewerAgentId: reviewer.agent_id,
        buyerAgentId: buyer?.agent_id ?? Attribution.AGENTLESS_BUYER_ID,
        cashbackOfCommissionBps: int(random, 0, 4_000),
        commissionMultiplierBps: int(random, 4_000, 10_000),
      },
    })
    purchases.push(purchase)
  }
  const { settler } = chain.market.accounts
  const [only] = purchases
  return size === 1
    ? call(trade, settler, 'SplitRouter', splitRouterAbi, 'settle', [only])
    : call(trade, settler, 'SplitRouter', splitRouterAbi, 'settleBatch', [purchases])
}

const onEscrow = (trade: Trade, account: LocalAccount | undefined, functionName: string, args: unknown[]) =>
  call(trade, account, 'CommissionEscrow', commissionEscrowAbi, functionName, args)

/** As the contract asks for them: what was published about an escrow. */
const termsOf = (escrow: Escrow) => ({
  escrowId: escrow.escrow_id,
  payer: escrow.payer,
  nonce: escrow.nonce,
  merchantId: escrow.merchant_id,
  productId: escrow.product_id,
  reviewId: escrow.review_id,
  reviewerAgentId: escrow.reviewer_agent_id,
  buyerAgentId: escrow.buyer_agent_id ?? Attribution.AGENTLESS_BUYER_ID,
  heldBack: escrow.held_back,
  cashback: escrow.cashback,
  windowEnd: escrow.window_end,
})

const bind: Idea = (trade) => {
  const { random, world, chain } = trade
  const escrow = some(
    random,
    world.escrows.filter((row) => row.buyer_agent_id === null && row.settled_at === null),
  )
  const payer = traderAt(escrow?.payer)
  const agent = some(
    random,
    world.identities.filter(({ owner }) => same(owner, payer?.address ?? '')),
  )
  if (!escrow || !agent) return
  const bound = onEscrow(trade, payer, 'bind', [termsOf(escrow), agent.agent_id])
  if (random() < 0.6) return bound
  const after = termsOf({ ...escrow, buyer_agent_id: agent.agent_id })
  const released = onEscrow(trade, chain.market.accounts.oracle, 'releaseCashback', [after])
  return [...bound.map((first) => ({ ...first, tip: 2n })), ...released]
}

const releaseOrSettle: Idea = (trade) => {
  const { random, world, chain, now } = trade
  const { oracle, stranger } = chain.market.accounts
  const open = world.escrows.filter((row) => row.settled_at === null)
  const due = some(
    random,
    open.filter(({ window_end }) => window_end <= now),
  )
  if (due && random() < 0.8)
    return random() < 0.6
      ? onEscrow(trade, oracle, 'settle', [termsOf(due), random() < 0.5, due.buyer_agent_id !== null])
      : onEscrow(trade, stranger, 'settleFallback', [termsOf(due)])
  const earned = some(
    random,
    open.filter((row) => row.buyer_agent_id !== null && row.cashback_released_at === null),
  )
  return earned && onEscrow(trade, oracle, 'releaseCashback', [termsOf(earned)])
}

// ---- people whom the token refuses

const block: Idea = (trade) => {
  const { random, chain } = trade
  const { deployer } = chain.market.accounts
  const which = random() < 0.4 ? 'blacklist' : 'unBlacklist'
  return call(trade, deployer, 'USDC', sandboxUSDCAbi, which, [pick(random, TRADERS).address])
}

const claim: Idea = (trade) => {
  const { random, world, chain } = trade
  const deferred = some(
    random,
    world.payouts.filter(({ claimed }) => !claimed),
  )
  if (!deferred) return
  const { deployer, stranger } = chain.market.accounts
  const data = encodeFunctionData({ abi: splitRouterAbi, functionName: 'claim', args: [deferred.account] })
  const unblocked = call(trade, deployer, 'USDC', sandboxUSDCAbi, 'unBlacklist', [deferred.account])
  return [
    ...unblocked.map((first) => ({ ...first, tip: 2n })),
    { account: stranger, to: deferred.contract as Address, data },
  ]
}

/** Those that are there more often happen more often. */
const IDEAS: Idea[] = [
  ...[register, register, changeIdentity, changeIdentity, openOrClose, openOrClose, changeMerchant],
  ...[listProduct, listProduct, changeProduct, publishWithProof, publishWithProof, publishWithEscrow],
  ...[
    publishWithEscrow,
    editContent,
    buy,
    buy,
    buy,
    buy,
    bind,
    bind,
    releaseOrSettle,
    releaseOrSettle,
    block,
    claim,
  ],
]
