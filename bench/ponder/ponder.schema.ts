import { index, onchainTable, primaryKey } from 'ponder'

// What the market's own indexer writes (packages/service/migrations, 0002_chain.sql and the records of 0003_market.sql), with the same
// keys and indexes, in the column types that Ponder advises.

export const identities = onchainTable(
  'identities',
  (t) => ({
    chainId: t.integer().notNull(),
    agentId: t.bigint().notNull(),
    owner: t.hex().notNull(),
    wallet: t.hex().notNull(),
    uri: t.text().notNull(),
    mintedAt: t.bigint().notNull(),
    transferredAt: t.bigint(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.chainId, table.agentId] }),
    byOwner: index().on(table.chainId, table.owner, table.agentId),
  }),
)

export const ownershipChanges = onchainTable(
  'ownership_changes',
  (t) => ({
    chainId: t.integer().notNull(),
    blockNumber: t.bigint().notNull(),
    logIndex: t.integer().notNull(),
    agentId: t.bigint().notNull(),
    fromOwner: t.hex().notNull(),
    toOwner: t.hex().notNull(),
    changedAt: t.bigint().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.chainId, table.blockNumber, table.logIndex] }),
    ofAgent: index().on(table.chainId, table.agentId, table.blockNumber, table.logIndex),
  }),
)

export const merchants = onchainTable(
  'merchants',
  (t) => ({
    chainId: t.integer().notNull(),
    merchantId: t.bigint().notNull(),
    active: t.boolean().notNull(),
    suspended: t.boolean().notNull(),
    openedBy: t.hex(),
    payout: t.hex(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.chainId, table.merchantId] }) }),
)

export const merchantRoles = onchainTable(
  'merchant_roles',
  (t) => ({
    chainId: t.integer().notNull(),
    merchantId: t.bigint().notNull(),
    grantedBy: t.hex().notNull(),
    role: t.hex().notNull(),
    account: t.hex().notNull(),
    granted: t.boolean().notNull(),
  }),
  (table) => ({
    pk: primaryKey({
      columns: [table.chainId, table.merchantId, table.grantedBy, table.role, table.account],
    }),
  }),
)

export const products = onchainTable(
  'products',
  (t) => ({
    chainId: t.integer().notNull(),
    merchantId: t.bigint().notNull(),
    productId: t.hex().notNull(),
    commissionBps: t.integer().notNull(),
    minPrice: t.bigint().notNull(),
    productType: t.integer().notNull(),
    cardUri: t.text().notNull(),
    active: t.boolean().notNull(),
    listedAt: t.bigint().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.chainId, table.merchantId, table.productId] }) }),
)

export const reviews = onchainTable(
  'reviews',
  (t) => ({
    chainId: t.integer().notNull(),
    reviewId: t.bigint().notNull(),
    agentId: t.bigint().notNull(),
    merchantId: t.bigint().notNull(),
    productId: t.hex().notNull(),
    contentHash: t.hex().notNull(),
    proofKind: t.integer().notNull(),
    proofId: t.bigint().notNull(),
    publishedAt: t.bigint().notNull(),
    editedAt: t.bigint(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.chainId, table.reviewId] }),
    ofProduct: index().on(
      table.chainId,
      table.merchantId,
      table.productId,
      table.publishedAt.desc(),
      table.reviewId.desc(),
    ),
    ofAgent: index().on(table.chainId, table.agentId, table.reviewId.desc()),
    ofProof: index().on(table.chainId, table.proofKind, table.proofId),
  }),
)

export const reviewEdits = onchainTable(
  'review_edits',
  (t) => ({
    chainId: t.integer().notNull(),
    blockNumber: t.bigint().notNull(),
    logIndex: t.integer().notNull(),
    reviewId: t.bigint().notNull(),
    previousHash: t.hex().notNull(),
    contentHash: t.hex().notNull(),
    editedAt: t.bigint().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.chainId, table.blockNumber, table.logIndex] }),
    ofReview: index().on(table.chainId, table.reviewId, table.blockNumber, table.logIndex),
  }),
)

export const escrows = onchainTable(
  'escrows',
  (t) => ({
    chainId: t.integer().notNull(),
    contract: t.hex().notNull(),
    escrowId: t.bigint().notNull(),
    reviewerAgentId: t.bigint().notNull(),
    buyerAgentId: t.bigint(),
    payer: t.hex().notNull(),
    nonce: t.hex().notNull(),
    merchantId: t.bigint().notNull(),
    productId: t.hex().notNull(),
    reviewId: t.bigint().notNull(),
    price: t.bigint().notNull(),
    commission: t.bigint().notNull(),
    fee: t.bigint().notNull(),
    heldBack: t.bigint().notNull(),
    cashback: t.bigint().notNull(),
    windowEnd: t.bigint().notNull(),
    depositedAt: t.bigint().notNull(),
    transactionHash: t.hex().notNull(),
    boundBy: t.hex(),
    boundAt: t.bigint(),
    cashbackReleasedAt: t.bigint(),
    settledAt: t.bigint(),
    settledBy: t.hex(),
    fallbackUsed: t.boolean(),
    heldBackToReviewer: t.bigint(),
    heldBackToTreasury: t.bigint(),
    cashbackToBuyer: t.bigint(),
    cashbackToReviewer: t.bigint(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.chainId, table.contract, table.escrowId] }),
    byId: index().on(table.chainId, table.escrowId),
    ofReviewer: index().on(
      table.chainId,
      table.reviewerAgentId,
      table.depositedAt.desc(),
      table.escrowId.desc(),
    ),
    ofBuyer: index().on(table.chainId, table.buyerAgentId, table.depositedAt.desc(), table.escrowId.desc()),
    ofBoughtProduct: index().on(
      table.chainId,
      table.buyerAgentId,
      table.merchantId,
      table.productId,
      table.depositedAt.desc(),
    ),
    ofProduct: index().on(table.chainId, table.merchantId, table.productId),
    ofPayment: index().on(table.chainId, table.payer, table.nonce),
    toSettle: index().on(table.chainId, table.settledAt, table.windowEnd),
  }),
)

export const payouts = onchainTable(
  'payouts',
  (t) => ({
    chainId: t.integer().notNull(),
    blockNumber: t.bigint().notNull(),
    logIndex: t.integer().notNull(),
    contract: t.hex().notNull(),
    account: t.hex().notNull(),
    claimed: t.boolean().notNull(),
    amount: t.bigint().notNull(),
    happenedAt: t.bigint().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.chainId, table.blockNumber, table.logIndex] }),
    ofAccount: index().on(table.chainId, table.account, table.blockNumber, table.logIndex),
  }),
)

export const agentRecords = onchainTable(
  'agent_records',
  (t) => ({ chainId: t.integer().notNull(), agentId: t.bigint().notNull() }),
  (table) => ({ pk: primaryKey({ columns: [table.chainId, table.agentId] }) }),
)

export const productRecords = onchainTable(
  'product_records',
  (t) => ({
    chainId: t.integer().notNull(),
    merchantId: t.bigint().notNull(),
    productId: t.hex().notNull(),
    category: t.text().notNull(),
    rank: t.doublePrecision().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.chainId, table.merchantId, table.productId] }),
    byRank: index().on(table.chainId, table.rank.desc(), table.merchantId, table.productId),
    byCategory: index().on(
      table.chainId,
      table.category,
      table.rank.desc(),
      table.merchantId,
      table.productId,
    ),
  }),
)

export const reviewRecords = onchainTable(
  'review_records',
  (t) => ({
    chainId: t.integer().notNull(),
    agentId: t.bigint().notNull(),
    merchantId: t.bigint().notNull(),
    productId: t.hex().notNull(),
    publishedHash: t.hex().notNull(),
    proofKind: t.integer().notNull(),
    proofId: t.bigint().notNull(),
    cashbackBps: t.integer().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.chainId, table.proofKind, table.proofId, table.publishedHash] }),
  }),
)
