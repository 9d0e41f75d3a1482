// Random people who do everything that the contracts allow. A call may be refused; that is a transaction, too.
import { int, pick } from '@referrer/chain/testing'
import { developmentAccount, signPurchase } from '@referrer/contracts/local'
import { Attribution } from '@referrer/protocol'
import { splitRouterAbi } from '@referrer/protocol/abi'
import {
  encodeFunctionData,
  type Hex,
  keccak256,
  type LocalAccount,
  numberToHex,
  stringToHex,
  toHex,
} from 'viem'
import { call, publishWithProof, setAgentWallet, settle, termsOf } from './calls.ts'
import type { Call, ForkingChain } from './forking-chain.ts'
import type { Identity, Product, World } from './world.ts'

/** The accounts that own agents and merchants, buy and write. */
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

interface Trade {
  chain: ForkingChain
  world: World
  random: () => number
  /** The time of the block that the calls are for. */
  now: bigint
}

/** A random action: its calls are mined in one block. Undefined: nobody can do it now. */
type Idea = (trade: Trade) => Promise<Call[] | undefined> | Call[] | undefined

/** Some random actions that fit the present records, for a block at that time. */
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
const first = (calls: Call[]) => calls.map((one) => ({ ...one, tip: 2n }))

// ---- identities

function byOwner(
  { chain }: Trade,
  { owner }: Identity,
  contract: 'IdentityRegistry' | 'MerchantRegistry' | 'ReviewRegistry',
  functionName: string,
  args: unknown[],
): Call[] {
  const account = traderAt(owner)
  return account ? [call(chain, account, contract, functionName, args)] : []
}

const register: Idea = ({ chain, random, world }) => {
  const owner = pick(random, TRADERS)
  const uri = pick(random, ODD_TEXTS)
  const args = pick(random, [[], [uri], [uri, [{ metadataKey: 'note', metadataValue: '0x0102' }]]])
  const made = call(chain, owner, 'IdentityRegistry', 'register', args)
  if (random() < 0.6) return [made]
  // A guess at the new identity's id, so that one block creates and changes a row.
  const id = BigInt(world.identities.length)
  const receiver = pick(random, TRADERS).address
  return random() < 0.5
    ? [made, call(chain, owner, 'IdentityRegistry', 'transferFrom', [owner.address, receiver, id])]
    : [made, call(chain, owner, 'IdentityRegistry', 'setAgentURI', [id, 'guessed'])]
}

const changeIdentity: Idea = async (trade) => {
  const { random, world, chain, now } = trade
  const identity = some(random, world.identities)
  if (!identity) return
  const [id, owner] = [identity.agent_id, traderAt(identity.owner)]
  const change = (name: string, args: unknown[]) => byOwner(trade, identity, 'IdentityRegistry', name, args)
  switch (int(random, 0, 5)) {
    case 0:
      return change('setAgentURI', [id, pick(random, ODD_TEXTS)])
    case 1:
      return change('setMetadata', [id, 'note', numberToHex(int(random, 0, 255), { size: 1 })])
    case 2:
      return change('unsetAgentWallet', [id])
    case 3:
      return change('transferFrom', [identity.owner, pick(random, TRADERS).address, id])
    default:
      return (
        owner && [await setAgentWallet(chain, owner, { agentId: id, wallet: pick(random, TRADERS) }, now)]
      )
  }
}

// ---- merchants: identities with an even number

const merchantOf = ({ random, world }: Trade) =>
  some(
    random,
    world.identities.filter(({ agent_id }) => agent_id % 2n === 0n),
  )

const openOrClose: Idea = (trade) => {
  const merchant = merchantOf(trade)
  const args = [merchant?.agent_id, trade.random() < 0.85]
  return merchant && byOwner(trade, merchant, 'MerchantRegistry', 'setActive', args)
}

const changeMerchant: Idea = (trade) => {
  const { random, chain } = trade
  const merchant = merchantOf(trade)
  if (!merchant) return
  const id = merchant.agent_id
  const somebody = pick(random, TRADERS).address
  const change = (name: string, args: unknown[]) => byOwner(trade, merchant, 'MerchantRegistry', name, args)
  switch (int(random, 0, 2)) {
    case 0: {
      const { guardian } = chain.market.accounts
      return [call(chain, guardian, 'MerchantRegistry', 'setSuspended', [id, random() < 0.3])]
    }
    case 1:
      return change('setPayoutWallet', [id, somebody])
    default:
      return change(random() < 0.7 ? 'grantRole' : 'revokeRole', [id, ROLE, somebody])
  }
}

const listProduct: Idea = (trade) => {
  const { random } = trade
  const merchant = merchantOf(trade)
  if (!merchant) return
  const key = [merchant.agent_id, newId(random)]
  const terms = [int(random, 0, 5_000), BigInt(int(random, 0, 1_000)), int(random, 0, 1)]
  const change = (name: string, args: unknown[]) =>
    byOwner(trade, merchant, 'MerchantRegistry', name, [...key, ...args])
  const listed = change('listProduct', [...terms, pick(random, ODD_TEXTS)])
  return random() < 0.7 ? listed : [...listed, ...change('setProductTerms', [77, 2n ** 40n])]
}

const changeProduct: Idea = (trade) => {
  const { random, world } = trade
  const product = some(random, world.products)
  const merchant = world.identities.find(({ agent_id }) => agent_id === product?.merchant_id)
  if (!product || !merchant) return
  const change = (name: string, ...args: unknown[]) =>
    byOwner(trade, merchant, 'MerchantRegistry', name, [product.merchant_id, product.product_id, ...args])
  switch (int(random, 0, 2)) {
    case 0:
      return change('setProductActive', random() < 0.7)
    case 1:
      return change('setProductTerms', int(random, 0, 10_000), 0n)
    default:
      return change('setProductCard', pick(random, ODD_TEXTS).repeat(3))
  }
}

// ---- reviews

const publishOnProof: Idea = async ({ random, world, chain, now }) => {
  const product = some(random, world.products)
  const author = some(random, world.identities)
  const owner = traderAt(author?.owner)
  if (!product || !author || !owner) return
  const review = {
    agentId: author.agent_id,
    merchantId: product.merchant_id,
    productId: product.product_id,
    content: pick(random, CONTENTS),
    proofId: BigInt(int(random, 1, 2 ** 40)),
  }
  return [await publishWithProof(chain, owner, review, now)]
}

const publishOnEscrow: Idea = (trade) => {
  const { random, world, chain } = trade
  const bought = world.escrows.filter(({ buyer_agent_id }) => buyer_agent_id !== null)
  const escrow = some(random, bought)
  const buyer = world.identities.find(({ agent_id }) => agent_id === escrow?.buyer_agent_id)
  if (!escrow || !buyer) return
  const args = [chain.market.addresses.CommissionEscrow, termsOf(escrow), keccak256(newId(random))]
  return byOwner(trade, buyer, 'ReviewRegistry', 'publishWithEscrow', args)
}

const editContent: Idea = (trade) => {
  const { random, world } = trade
  const review = some(
    random,
    world.reviews.filter(({ proof_kind }) => proof_kind === 2),
  )
  const author = world.identities.find(({ agent_id }) => agent_id === review?.agent_id)
  if (!review || !author) return
  const edit = () =>
    byOwner(trade, author, 'ReviewRegistry', 'editContent', [review.review_id, keccak256(newId(random))])
  return random() < 0.7 ? edit() : [...edit(), ...edit()]
}

// ---- purchases and what becomes of them

const buy: Idea = async ({ random, world, chain }) => {
  const isOpen = ({ merchant_id, active }: Product) =>
    active && world.merchants.some((row) => row.merchant_id === merchant_id && row.active && !row.suspended)
  const purchases = []
  for (let count = pick(random, [1, 1, 3]); count > 0; count -= 1) {
    const product = some(random, world.products.filter(isOpen))
    const reviewer = some(random, world.identities)
    if (!product || !reviewer) return
    const payer = pick(random, TRADERS)
    const own = world.identities.filter(({ owner }) => same(owner, payer.address))
    const buyer = random() < 0.5 ? undefined : some(random, own)
    const attribution = {
      merchantId: product.merchant_id,
      productId: product.product_id,
      reviewId: some(random, world.reviews)?.review_id ?? 0n,
      reviewerAgentId: reviewer.agent_id,
      buyerAgentId: buyer?.agent_id ?? Attribution.AGENTLESS_BUYER_ID,
      cashbackOfCommissionBps: int(random, 0, 4_000),
      commissionMultiplierBps: int(random, 4_000, 10_000),
    }
    const value = product.min_price + BigInt(int(random, 1, 10_000_000))
    purchases.push(await signPurchase(chain.market, payer, { value, salt: newId(random), attribution }))
  }
  return [settle(chain, purchases)]
}

const bind: Idea = ({ random, world, chain }) => {
  const escrow = some(
    random,
    world.escrows.filter((row) => row.buyer_agent_id === null && row.settled_at === null),
  )
  const payer = traderAt(escrow?.payer)
  const own = world.identities.filter(({ owner }) => same(owner, payer?.address ?? ''))
  const agent = some(random, own)
  if (!escrow || !payer || !agent) return
  const bound = call(chain, payer, 'CommissionEscrow', 'bind', [termsOf(escrow), agent.agent_id])
  if (random() < 0.6) return [bound]
  const terms = termsOf({ ...escrow, buyer_agent_id: agent.agent_id })
  const { oracle } = chain.market.accounts
  return [...first([bound]), call(chain, oracle, 'CommissionEscrow', 'releaseCashback', [terms])]
}

const releaseOrSettle: Idea = ({ random, world, chain, now }) => {
  const { oracle, stranger } = chain.market.accounts
  const open = world.escrows.filter((row) => row.settled_at === null)
  const due = some(
    random,
    open.filter(({ window_end }) => window_end <= now),
  )
  if (due && random() < 0.8) {
    const verdict = [random() < 0.5, due.buyer_agent_id !== null]
    return random() < 0.6
      ? [call(chain, oracle, 'CommissionEscrow', 'settle', [termsOf(due), ...verdict])]
      : [call(chain, stranger, 'CommissionEscrow', 'settleFallback', [termsOf(due)])]
  }
  const earned = some(
    random,
    open.filter((row) => row.buyer_agent_id !== null && row.cashback_released_at === null),
  )
  return earned && [call(chain, oracle, 'CommissionEscrow', 'releaseCashback', [termsOf(earned)])]
}

// ---- people whom the token refuses

const block: Idea = ({ random, chain }) => {
  const which = random() < 0.4 ? 'blacklist' : 'unBlacklist'
  return [call(chain, chain.market.accounts.deployer, 'USDC', which, [pick(random, TRADERS).address])]
}

const claim: Idea = ({ random, world, chain }) => {
  const deferred = some(
    random,
    world.payouts.filter(({ claimed }) => !claimed),
  )
  if (!deferred) return
  const { deployer, stranger } = chain.market.accounts
  const data = encodeFunctionData({ abi: splitRouterAbi, functionName: 'claim', args: [deferred.account] })
  const unblocked = call(chain, deployer, 'USDC', 'unBlacklist', [deferred.account])
  return [...first([unblocked]), { account: stranger, to: deferred.contract, data }]
}

/** Actions that are listed more often happen more often. */
const IDEAS: Idea[] = [
  ...[register, register, changeIdentity, changeIdentity, openOrClose, openOrClose, changeMerchant],
  ...[listProduct, listProduct, changeProduct, publishOnProof, publishOnProof, publishOnEscrow],
  ...[publishOnEscrow, editContent, buy, buy, buy, buy, bind, bind, releaseOrSettle, releaseOrSettle],
  ...[block, claim],
]
