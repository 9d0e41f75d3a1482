// Computes what the mirrored tables must contain, from the chain's logs, one by one. Shares no code with the service.
import type { Market } from '@referrer/contracts/local'
import {
  commissionEscrowAbi,
  identityRegistryAbi,
  merchantRegistryAbi,
  reviewRegistryAbi,
} from '@referrer/protocol/abi'
import {
  type Address,
  type Hex,
  maxUint256,
  type ParseEventLogsReturnType,
  parseEventLogs,
  zeroAddress,
} from 'viem'
import type { Merchant, World } from './world.ts'

const marketAbi = [
  ...identityRegistryAbi,
  ...merchantRegistryAbi,
  ...reviewRegistryAbi,
  // This includes the split router's two events.
  ...commissionEscrowAbi,
] as const

/** A decoded log with the time of its block. */
export type ChainEvent = ParseEventLogsReturnType<typeof marketAbi, undefined, true>[number] & {
  time: bigint
}

/** All events of the market in these blocks, read from the node. */
export async function readEvents(
  { client, addresses }: Market,
  fromBlock: bigint,
  toBlock: bigint,
  successors: Address[] = [],
): Promise<ChainEvent[]> {
  const { USDC: _usdc, AddressRegistry: _registry, ...followed } = addresses
  const address = [...Object.values(followed), ...successors]
  const logs = await client.getLogs({ address, fromBlock, toBlock })
  const times = new Map<bigint, bigint>()
  for (const { blockNumber } of logs) {
    if (times.has(blockNumber)) continue
    times.set(blockNumber, (await client.getBlock({ blockNumber })).timestamp)
  }
  return parseEventLogs({ abi: marketAbi, logs }).map((event) => ({
    ...event,
    time: times.get(event.blockNumber) ?? 0n,
  }))
}

const lower = (hex: Hex) => hex.toLowerCase() as Hex
/** Postgres cannot store the character zero; the service removes it. */
const text = (value: string) => value.replaceAll('\0', '')

export function fold(chain: number, events: ChainEvent[]): World {
  const chain_id = BigInt(chain)
  const world: World = {
    identities: [],
    ownership_changes: [],
    merchants: [],
    merchant_roles: [],
    products: [],
    reviews: [],
    review_edits: [],
    escrows: [],
    payouts: [],
    skipped_escrows: [],
  }

  const agent = (id: bigint) => found(world.identities, (row) => row.agent_id === id)
  const review = (id: bigint) => found(world.reviews, (row) => row.review_id === id)
  const product = (merchant: bigint, id: Hex) =>
    found(world.products, (row) => row.merchant_id === merchant && row.product_id === id)
  function merchant(merchant_id: bigint): Merchant {
    const known = world.merchants.find((row) => row.merchant_id === merchant_id)
    if (known) return known
    const row = { chain_id, merchant_id, active: false, suspended: false, opened_by: null, payout: null }
    world.merchants.push(row)
    return row
  }

  for (const event of events) {
    const { time } = event
    const contract = lower(event.address)
    const position = { chain_id, block_number: event.blockNumber, log_index: event.logIndex }
    const escrow = (id: bigint) =>
      found(world.escrows, (row) => row.contract === contract && row.escrow_id === id)

    switch (event.eventName) {
      case 'Transfer': {
        const { from, to, tokenId: agent_id } = event.args
        const owner = lower(to)
        if (from === zeroAddress) {
          const fresh = { wallet: zeroAddress, uri: '', minted_at: time, transferred_at: null }
          world.identities.push({ chain_id, agent_id, owner, ...fresh })
        } else Object.assign(agent(agent_id), { owner, wallet: zeroAddress, transferred_at: time })
        world.ownership_changes.push({
          ...position,
          agent_id,
          from_owner: lower(from),
          to_owner: owner,
          changed_at: time,
        })
        break
      }
      case 'Registered':
        agent(event.args.agentId).uri = text(event.args.agentURI)
        break
      case 'URIUpdated':
        agent(event.args.agentId).uri = text(event.args.newURI)
        break
      case 'MetadataSet': {
        const { agentId, metadataKey, metadataValue } = event.args
        if (metadataKey !== 'agentWallet') break
        agent(agentId).wallet = metadataValue === '0x' ? zeroAddress : lower(metadataValue)
        break
      }
      case 'MerchantActiveSet': {
        const { merchantId, active, owner, payout } = event.args
        Object.assign(merchant(merchantId), { active, opened_by: lower(owner), payout: lower(payout) })
        break
      }
      case 'PayoutWalletSet':
        merchant(event.args.merchantId).payout = lower(event.args.payout)
        break
      case 'MerchantSuspensionSet':
        merchant(event.args.merchantId).suspended = event.args.suspended
        break
      case 'MerchantRoleSet': {
        const { merchantId, role, granted } = event.args
        const [granted_by, account] = [lower(event.args.owner), lower(event.args.account)]
        const key = { chain_id, merchant_id: merchantId, granted_by, role, account }
        const known = world.merchant_roles.find(
          (row) =>
            row.merchant_id === merchantId &&
            row.granted_by === granted_by &&
            row.role === role &&
            row.account === account,
        )
        if (known) known.granted = granted
        else world.merchant_roles.push({ ...key, granted })
        break
      }
      case 'ProductListed': {
        const { merchantId, productId, commissionBps, minPrice, productType, cardURI } = event.args
        world.products.push({
          chain_id,
          merchant_id: merchantId,
          product_id: productId,
          commission_bps: commissionBps,
          min_price: minPrice,
          product_type: productType,
          card_uri: text(cardURI),
          active: true,
          listed_at: time,
        })
        break
      }
      case 'ProductActiveSet':
        product(event.args.merchantId, event.args.productId).active = event.args.active
        break
      case 'ProductTermsSet': {
        const { merchantId, productId, commissionBps, minPrice } = event.args
        Object.assign(product(merchantId, productId), { commission_bps: commissionBps, min_price: minPrice })
        break
      }
      case 'ProductCardSet':
        product(event.args.merchantId, event.args.productId).card_uri = text(event.args.cardURI)
        break
      case 'ReviewPublished': {
        const { args } = event
        world.reviews.push({
          ...position,
          review_id: args.reviewId,
          agent_id: args.agentId,
          merchant_id: args.merchantId,
          product_id: args.productId,
          content_hash: args.contentHash,
          published_hash: args.contentHash,
          author_owner: agent(args.agentId).owner,
          proof_kind: args.proofKind,
          proof_id: args.proofId,
          published_at: time,
          edited_at: null,
        })
        break
      }
      case 'ReviewContentEdited': {
        const { reviewId: review_id, previousHash, contentHash } = event.args
        Object.assign(review(review_id), { content_hash: contentHash, edited_at: time })
        const hashes = { previous_hash: previousHash, content_hash: contentHash }
        world.review_edits.push({ ...position, review_id, ...hashes, edited_at: time })
        break
      }
      case 'EscrowDeposited': {
        const { args } = event
        world.escrows.push({
          ...position,
          contract,
          escrow_id: args.escrowId,
          reviewer_agent_id: args.reviewerAgentId,
          buyer_agent_id: args.buyerAgentId === maxUint256 ? null : args.buyerAgentId,
          // A reorganisation can take back the registration of an agent and keep what it bought.
          buyer_owner: world.identities.find(({ agent_id }) => agent_id === args.buyerAgentId)?.owner ?? null,
          payer: lower(args.payer),
          nonce: args.nonce,
          merchant_id: args.merchantId,
          product_id: args.productId,
          review_id: args.reviewId,
          price: args.price,
          commission: args.commission,
          fee: args.fee,
          held_back: args.heldBack,
          cashback: args.cashback,
          window_end: args.windowEnd,
          deposited_at: time,
          transaction_hash: event.transactionHash,
          bound_by: null,
          bound_at: null,
          cashback_released_at: null,
          settled_at: null,
          settled_by: null,
          fallback_used: null,
          held_back_to_reviewer: null,
          held_back_to_treasury: null,
          cashback_to_buyer: null,
          cashback_to_reviewer: null,
        })
        break
      }
      case 'EscrowBound': {
        const { escrowId, agentId, boundBy } = event.args
        const bound = { buyer_agent_id: agentId, bound_by: lower(boundBy), bound_at: time }
        Object.assign(escrow(escrowId), bound)
        break
      }
      case 'CashbackReleased':
        escrow(event.args.escrowId).cashback_released_at = time
        break
      case 'EscrowSettled': {
        const { args } = event
        Object.assign(escrow(args.escrowId), {
          settled_at: time,
          settled_by: lower(args.settledBy),
          fallback_used: args.fallbackUsed,
          held_back_to_reviewer: args.heldBackToReviewer,
          held_back_to_treasury: args.heldBackToTreasury,
          cashback_to_buyer: args.cashbackToBuyer,
          cashback_to_reviewer: args.cashbackToReviewer,
        })
        break
      }
      case 'EscrowSkipped': {
        const { escrowId: escrow_id, payer, nonce, reason } = event.args
        const skipped = { contract, payer: lower(payer), nonce, escrow_id, reason }
        world.skipped_escrows.push({ ...position, ...skipped, transaction_hash: event.transactionHash })
        break
      }
      case 'PayoutDeferred':
      case 'PayoutClaimed': {
        const { account, amount } = event.args
        const claimed = event.eventName === 'PayoutClaimed'
        const paid = { contract, account: lower(account), claimed, amount, happened_at: time }
        world.payouts.push({ ...position, ...paid })
        break
      }
    }
  }
  return world
}

function found<T>(rows: T[], matches: (row: T) => boolean): T {
  const row = rows.find(matches)
  if (!row) throw new Error('an event changes what no earlier event made: the replay is wrong')
  return row
}
