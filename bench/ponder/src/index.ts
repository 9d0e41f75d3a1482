import { ponder } from 'ponder:registry'
import {
  agentRecords,
  escrows,
  identities,
  merchantRoles,
  merchants,
  ownershipChanges,
  payouts,
  productRecords,
  products,
  reviewEdits,
  reviewRecords,
  reviews,
} from 'ponder:schema'
import { zeroAddress } from 'viem'

// A row is changed where it is known to exist and inserted where it is not: each handler makes one write a row, by Ponder's store,
// which keeps rows in memory and copies them to Postgres in bulk.

const AGENTLESS = 2n ** 256n - 1n

ponder.on('Identities:Transfer', async ({ event, context }) => {
  const { chain, db } = context
  const { from, to, tokenId: agentId } = event.args
  const at = event.block.timestamp
  await db.insert(ownershipChanges).values({
    ...position(event, chain),
    agentId,
    fromOwner: from,
    toOwner: to,
    changedAt: at,
  })
  if (from === zeroAddress) {
    await db
      .insert(identities)
      .values({ chainId: chain.id, agentId, owner: to, wallet: zeroAddress, uri: '', mintedAt: at })
    await db.insert(agentRecords).values({ chainId: chain.id, agentId }).onConflictDoNothing()
  } else {
    await db
      .update(identities, { chainId: chain.id, agentId })
      .set({ owner: to, wallet: zeroAddress, transferredAt: at })
  }
})

ponder.on('Identities:Registered', async ({ event, context }) => {
  const { agentId, agentURI: uri } = event.args
  await context.db.update(identities, { chainId: context.chain.id, agentId }).set({ uri })
})

ponder.on('Identities:URIUpdated', async ({ event, context }) => {
  const { agentId, newURI: uri } = event.args
  await context.db.update(identities, { chainId: context.chain.id, agentId }).set({ uri })
})

ponder.on('Identities:MetadataSet', async ({ event, context }) => {
  const { agentId, metadataKey, metadataValue } = event.args
  if (metadataKey !== 'agentWallet') return
  const wallet = metadataValue === '0x' ? zeroAddress : metadataValue
  await context.db.update(identities, { chainId: context.chain.id, agentId }).set({ wallet })
})

ponder.on('Merchants:MerchantActiveSet', async ({ event, context }) => {
  const { merchantId, owner: openedBy, active, payout } = event.args
  await context.db
    .insert(merchants)
    .values({ chainId: context.chain.id, merchantId, active, suspended: false, openedBy, payout })
    .onConflictDoUpdate({ active, openedBy, payout })
})

ponder.on('Merchants:PayoutWalletSet', async ({ event, context }) => {
  const { merchantId, payout } = event.args
  await context.db.update(merchants, { chainId: context.chain.id, merchantId }).set({ payout })
})

ponder.on('Merchants:MerchantSuspensionSet', async ({ event, context }) => {
  const { merchantId, suspended } = event.args
  await context.db
    .insert(merchants)
    .values({ chainId: context.chain.id, merchantId, active: false, suspended })
    .onConflictDoUpdate({ suspended })
})

ponder.on('Merchants:MerchantRoleSet', async ({ event, context }) => {
  const { merchantId, role, account, owner: grantedBy, granted } = event.args
  await context.db
    .insert(merchantRoles)
    .values({ chainId: context.chain.id, merchantId, grantedBy, role, account, granted })
    .onConflictDoUpdate({ granted })
})

ponder.on('Merchants:ProductListed', async ({ event, context }) => {
  const { merchantId, productId, commissionBps, minPrice, productType, cardURI } = event.args
  await context.db.insert(products).values({
    chainId: context.chain.id,
    merchantId,
    productId,
    commissionBps,
    minPrice,
    productType,
    cardUri: cardURI,
    active: true,
    listedAt: event.block.timestamp,
  })
  await context.db
    .insert(productRecords)
    .values({ chainId: context.chain.id, merchantId, productId, category: '', rank: 0.5 })
    .onConflictDoNothing()
})

ponder.on('Merchants:ProductTermsSet', async ({ event, context }) => {
  const { merchantId, productId, commissionBps, minPrice } = event.args
  await context.db
    .update(products, { chainId: context.chain.id, merchantId, productId })
    .set({ commissionBps, minPrice })
})

ponder.on('Merchants:ProductActiveSet', async ({ event, context }) => {
  const { merchantId, productId, active } = event.args
  await context.db.update(products, { chainId: context.chain.id, merchantId, productId }).set({ active })
})

ponder.on('Merchants:ProductCardSet', async ({ event, context }) => {
  const { merchantId, productId, cardURI: cardUri } = event.args
  await context.db.update(products, { chainId: context.chain.id, merchantId, productId }).set({ cardUri })
})

ponder.on('Reviews:ReviewPublished', async ({ event, context }) => {
  const { reviewId: _, contentHash: publishedHash, ...published } = event.args
  await context.db
    .insert(reviewRecords)
    .values({ chainId: context.chain.id, ...published, publishedHash, cashbackBps: 0 })
    .onConflictDoNothing()
  await context.db
    .insert(reviews)
    .values({ chainId: context.chain.id, ...event.args, publishedAt: event.block.timestamp })
})

ponder.on('Reviews:ReviewContentEdited', async ({ event, context }) => {
  const { reviewId, previousHash, contentHash, editedAt } = event.args
  await context.db
    .insert(reviewEdits)
    .values({ ...position(event, context.chain), reviewId, previousHash, contentHash, editedAt })
  await context.db.update(reviews, { chainId: context.chain.id, reviewId }).set({ contentHash, editedAt })
})

ponder.on('Escrow:EscrowDeposited', async ({ event, context }) => {
  const { buyerAgentId, ...terms } = event.args
  await context.db.insert(escrows).values({
    chainId: context.chain.id,
    contract: event.log.address,
    ...terms,
    buyerAgentId: buyerAgentId === AGENTLESS ? null : buyerAgentId,
    depositedAt: event.block.timestamp,
    transactionHash: event.transaction.hash,
  })
})

ponder.on('Escrow:EscrowBound', async ({ event, context }) => {
  const { escrowId, agentId, boundBy } = event.args
  await context.db
    .update(escrows, { chainId: context.chain.id, contract: event.log.address, escrowId })
    .set({ buyerAgentId: agentId, boundBy, boundAt: event.block.timestamp })
})

ponder.on('Escrow:CashbackReleased', async ({ event, context }) => {
  const { escrowId } = event.args
  await context.db
    .update(escrows, { chainId: context.chain.id, contract: event.log.address, escrowId })
    .set({ cashbackReleasedAt: event.block.timestamp })
})

ponder.on('Escrow:EscrowSettled', async ({ event, context }) => {
  const { escrowId, ...settlement } = event.args
  await context.db
    .update(escrows, { chainId: context.chain.id, contract: event.log.address, escrowId })
    .set({ ...settlement, settledAt: event.block.timestamp })
})

ponder.on('Escrow:PayoutDeferred', async ({ event, context }) => {
  await context.db.insert(payouts).values({
    ...position(event, context.chain),
    contract: event.log.address,
    ...event.args,
    claimed: false,
    happenedAt: event.block.timestamp,
  })
})

ponder.on('Escrow:PayoutClaimed', async ({ event, context }) => {
  await context.db.insert(payouts).values({
    ...position(event, context.chain),
    contract: event.log.address,
    ...event.args,
    claimed: true,
    happenedAt: event.block.timestamp,
  })
})

type Position = { block: { number: bigint }; log: { logIndex: number } }

function position({ block, log }: Position, chain: { id: number }) {
  return { chainId: chain.id, blockNumber: block.number, logIndex: log.logIndex }
}
