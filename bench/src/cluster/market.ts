// The market before the load: a shop, a review that pledges cashback, and agents that will buy.
import { createReferrerClient } from '@referrer/client'
import { developmentAccount, publishWithProof, registerIdentity } from '@referrer/contracts/local'
import { AttestationKey, AttributionToken } from '@referrer/protocol'
import { keccak256, numberToHex, toBytes } from 'viem'
import { openShop, type Shop } from '../settle/market.ts'
import type { Traveller } from './journeys.ts'

/** Of the key that signs ref links, as `openShop` uses it. */
export const ATTESTATION_SEED = numberToHex(BigInt(`0x${'01'.repeat(32)}`), { size: 32 })

const TRAVELLERS_FROM = 200
const GAS_MONEY = 10n ** 18n
const PLEDGE_BPS = 2_000

export async function openMarket(
  client: Shop['market']['client'],
  { buyers, travellers: count }: { buyers: number; travellers: number },
): Promise<{ shop: Shop; travellers: Traveller[] }> {
  const accounts = Array.from({ length: count }, (_, at) => developmentAccount(TRAVELLERS_FROM + at))
  const shop = await openShop(client, { buyers, relayers: 2, alsoRich: accounts })
  const travellers: Traveller[] = []
  for (const account of accounts) {
    // They publish their reviews themselves.
    await client.setBalance({ address: account.address, value: GAS_MONEY })
    travellers.push({ account, agentId: await registerIdentity(shop.market, account) })
  }
  return { shop, travellers }
}

/** The reviewer pledges cashback, which needs a running service, and publishes a review after that. Returns the shop with its ref link. */
export async function pledge(shop: Shop, api: typeof fetch): Promise<Shop> {
  const { market } = shop
  const { reviewer } = market.accounts
  const chainId = market.client.chain.id
  const { v: _version, kid: _key, ...terms } = AttributionToken.decodeUnverified(shop.attributionToken)
  const service = createReferrerClient({ url: 'http://market', account: reviewer, chainId, fetch: api })
  await service.setCashbackRate({
    reviewer_agent_id: terms.reviewerAgentId,
    cashback_of_commission_bps: PLEDGE_BPS,
  })
  const product = { merchantId: BigInt(terms.merchantId), productId: keccak256(toBytes('bench')) }
  const { reviewId } = await publishWithProof(market, reviewer, {
    agentId: BigInt(terms.reviewerAgentId),
    product,
    content: '{"rating":5,"description":"It pledges."}',
    proofId: 2n,
  })
  const key = await AttestationKey.signingKey(toBytes(ATTESTATION_SEED))
  const attributionToken = await AttributionToken.mint(
    { ...terms, reviewId: Number(reviewId), cashbackOfCommissionBps: PLEDGE_BPS },
    key,
  )
  return { ...shop, attributionToken }
}
