import { type Hex, keccak256, stringToHex, zeroAddress } from 'viem'
import { identities, type MarketLog, merchantRegistry } from '../contracts.ts'
import type { Value } from '../encode.ts'
import type { Random } from '../random.ts'
import { type Agent, by, GUARDIAN, keyOf, type MarketTransaction, type Product, type State } from './state.ts'

const SIGNER_ROLE = keccak256(stringToHex('SETTLEMENT_SIGNER_ROLE'))

export function register({ random, agents, added }: State): MarketTransaction {
  const agent = { id: BigInt(agents.length), owner: random.address() }
  const { id: agentId, owner } = agent
  agents.push(agent)
  added.ownership_changes++
  return by(
    owner,
    identities('Transfer', { from: zeroAddress, to: owner, tokenId: agentId }),
    identities('Registered', { agentId, agentURI: `https://agents.example/${agentId}/agent.json`, owner }),
    metadata(agent, 'agentWallet', owner),
  )
}

export function describe({ random, agents }: State): MarketTransaction {
  const agent = random.pick(agents)
  return by(agent.owner, metadata(agent, 'name', `0x${random.hash().slice(2, 18)}`))
}

/** The wallet does not go along. */
export function transfer({ random, agents, merchants, added }: State): MarketTransaction | undefined {
  const agent = random.pick(agents)
  if (merchants.includes(agent)) return undefined
  const from = agent.owner
  agent.owner = random.address()
  added.ownership_changes++
  return by(
    from,
    metadata(agent, 'agentWallet', '0x'),
    identities('Transfer', { from, to: agent.owner, tokenId: agent.id }),
  )
}

export function open({ random, agents, merchants }: State): MarketTransaction | undefined {
  const agent = random.pick(agents)
  if (merchants.includes(agent)) return undefined
  merchants.push(agent)
  const { id: merchantId, owner } = agent
  return by(
    owner,
    merchantRegistry('MerchantActiveSet', { merchantId, owner, active: false, payout: owner }),
    merchantRegistry('MerchantActiveSet', { merchantId, owner, active: true, payout: owner }),
  )
}

export function manageMerchant({ random, merchants, added }: State): MarketTransaction {
  const { id: merchantId, owner } = random.pick(merchants)
  if (random.chance(0.1)) {
    const suspended = random.chance(0.5)
    return by(GUARDIAN, merchantRegistry('MerchantSuspensionSet', { merchantId, suspended }))
  }
  if (random.chance(0.4)) {
    return by(owner, merchantRegistry('PayoutWalletSet', { merchantId, payout: random.address() }))
  }
  added.merchant_roles++
  const grant = { merchantId, role: SIGNER_ROLE, account: random.address(), owner, granted: true }
  return by(owner, merchantRegistry('MerchantRoleSet', grant))
}

export function list({ random, merchants, products }: State): MarketTransaction {
  const product = { merchant: random.pick(merchants), id: random.hash(), active: true }
  products.push(product)
  const listing = { ...terms(random), productType: BigInt(random.below(2)), cardURI: cardOf(product) }
  return by(product.merchant.owner, merchantRegistry('ProductListed', { ...keyOf(product), ...listing }))
}

export function changeProduct({ random, products }: State): MarketTransaction {
  const product = random.pick(products)
  return by(product.merchant.owner, productChange(product, random))
}

function productChange(product: Product, random: Random): MarketLog {
  const key = keyOf(product)
  switch (random.below(3)) {
    case 0:
      return merchantRegistry('ProductTermsSet', { ...key, ...terms(random) })
    case 1:
      return merchantRegistry('ProductCardSet', {
        ...key,
        cardURI: `${cardOf(product)}?v=${random.below(1_000)}`,
      })
    default:
      product.active = !product.active
      return merchantRegistry('ProductActiveSet', { ...key, active: product.active })
  }
}

function metadata(agent: Agent, metadataKey: string, metadataValue: Hex): MarketLog {
  const entry = { indexedMetadataKey: metadataKey, metadataKey, metadataValue }
  return identities('MetadataSet', { agentId: agent.id, ...entry })
}

function terms(random: Random): Record<string, Value> {
  return {
    commissionBps: BigInt(random.between(100, 3_000)),
    minPrice: BigInt(random.between(1_000, 10_000)),
  }
}

function cardOf(product: Product): string {
  return `https://shops.example/${product.merchant.id}/${product.id.slice(2, 18)}.json`
}
