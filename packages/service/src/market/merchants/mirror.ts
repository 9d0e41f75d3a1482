import type { Transaction } from '@referrer/database'
import type { EventOf } from '../../kit/events.ts'
import {
  Changes,
  insertRows,
  learnedAgain,
  type Row,
  type Table,
  writeChanges,
} from '../../machinery/db/rows.ts'

export type MerchantEvent = EventOf<'MerchantRegistry'>

const merchants: Table = {
  name: 'chain.merchants',
  key: { chain_id: 'bigint', merchant_id: 'bigint' },
  columns: { active: 'boolean', suspended: 'boolean', opened_by: 'bytea', payout: 'bytea' },
}

const roles: Table = {
  name: 'chain.merchant_roles',
  key: { chain_id: 'bigint', merchant_id: 'bigint', granted_by: 'bytea', role: 'bytea', account: 'bytea' },
  columns: { granted: 'boolean' },
}

const products: Table = {
  name: 'chain.products',
  key: { chain_id: 'bigint', merchant_id: 'bigint', product_id: 'bytea' },
  columns: {
    commission_bps: 'integer',
    min_price: 'numeric',
    product_type: 'integer',
    card_uri: 'text',
    active: 'boolean',
    listed_at: 'time',
  },
}

const records: Table = {
  name: 'market.products',
  key: { chain_id: 'bigint', merchant_id: 'bigint', product_id: 'bytea' },
  columns: { learned_in: 'bigint' },
}

/** Indexes merchants, their roles, and their products with the terms. */
export async function applyMerchantEvents(
  tx: Transaction,
  chainId: number,
  events: MerchantEvent[],
  isFinal: boolean,
): Promise<void> {
  const shops = new Changes()
  const grants = new Map<string, Row>()
  const wares = new Changes()
  const listed: Row[] = []
  for (const event of events) {
    const merchant = { chain_id: chainId, merchant_id: event.args.merchantId }
    switch (event.name) {
      case 'MerchantActiveSet': {
        const { active, owner, payout } = event.args
        shops.change(merchant, { active, opened_by: owner, payout })
        break
      }
      case 'PayoutWalletSet':
        shops.change(merchant, { payout: event.args.payout })
        break
      case 'MerchantSuspensionSet':
        shops.change(merchant, { suspended: event.args.suspended })
        break
      case 'MerchantRoleSet': {
        const { owner, role, account, granted } = event.args
        const key = { ...merchant, granted_by: owner, role, account }
        grants.set(Object.values(key).join('/'), { ...key, granted })
        break
      }
      case 'ProductListed': {
        const { productId: product_id, commissionBps, minPrice, productType, cardURI } = event.args
        const key = { ...merchant, product_id }
        wares.create(key, {
          commission_bps: commissionBps,
          min_price: minPrice,
          product_type: productType,
          card_uri: cardURI,
          active: true,
          listed_at: event.timestamp,
        })
        listed.push({ ...key, learned_in: isFinal ? null : event.blockNumber })
        break
      }
      case 'ProductActiveSet':
        wares.change({ ...merchant, product_id: event.args.productId }, { active: event.args.active })
        break
      case 'ProductTermsSet': {
        const { productId: product_id, commissionBps, minPrice } = event.args
        wares.change({ ...merchant, product_id }, { commission_bps: commissionBps, min_price: minPrice })
        break
      }
      case 'ProductCardSet':
        wares.change({ ...merchant, product_id: event.args.productId }, { card_uri: event.args.cardURI })
        break
    }
  }
  // There is no event for a new merchant: its first event creates the row.
  const keys = [...shops.changed.values()].map((row) => ({ ...row, active: false, suspended: false }))
  const known = { ...merchants, columns: { active: 'boolean', suspended: 'boolean' } } as const
  await Promise.all([
    insertRows(tx, known, keys, 'ON CONFLICT DO NOTHING'),
    writeChanges(tx, merchants, shops),
    insertRows(
      tx,
      roles,
      [...grants.values()],
      'ON CONFLICT (chain_id, merchant_id, granted_by, role, account) DO UPDATE SET granted = excluded.granted',
    ),
    writeChanges(tx, products, wares),
    insertRows(tx, records, listed, learnedAgain(records)),
  ])
}

/** Deletes products that a reorganisation dropped, once that is final, unless their merchant has described them. */
export async function finalizeProducts(tx: Transaction, chainId: number, final: bigint): Promise<void> {
  await tx`
    DELETE FROM market.products AS p
    WHERE chain_id = ${chainId} AND learned_in <= ${final} AND described_at IS NULL AND NOT EXISTS (
      SELECT FROM chain.products AS c
      WHERE c.chain_id = p.chain_id AND c.merchant_id = p.merchant_id AND c.product_id = p.product_id)`
  await tx`
    UPDATE market.products SET learned_in = NULL WHERE chain_id = ${chainId} AND learned_in <= ${final}`
}
