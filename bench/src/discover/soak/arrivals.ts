// Products that are listed, one after the other, as the indexer and a merchant write them.
import { createHash } from 'node:crypto'
import type { Sql } from '@referrer/database'
import { asIndexer } from '@referrer/service/testing'
import { CHAIN_ID } from '../../http/market.ts'
import { ask } from '../ask.ts'
import { generatedItems } from '../catalogue.ts'

/** Beyond those that a market is filled with. */
const SKIPPED = 5_000
const MOST = 100_000

export function createArrivals(sql: Sql) {
  const items = generatedItems(SKIPPED + MOST)
  for (let n = 0; n < SKIPPED; n += 1) items.next()
  let count = 0
  let last = ''

  async function add(): Promise<void> {
    const { value: item } = items.next()
    if (!item) throw new Error('there are no more products to list')
    count += 1
    const word = `arrival${count}x`
    const id = createHash('sha256').update(word).digest()
    const [merchant] = await sql<{ merchant_id: bigint }[]>`
      SELECT merchant_id FROM market.merchants WHERE chain_id = ${CHAIN_ID} ORDER BY merchant_id OFFSET ${count % 100} LIMIT 1`
    const merchantId = merchant?.merchant_id ?? 0n
    await asIndexer(sql, async (tx) => {
      await tx`
        INSERT INTO chain.products VALUES (${CHAIN_ID}, ${merchantId}, ${id}, 500, ${item.price ?? 1}, 0, '', true, now())`
      await tx`
        INSERT INTO market.products (chain_id, merchant_id, product_id, name, description, category)
        VALUES (${CHAIN_ID}, ${merchantId}, ${id}, ${`${item.name} ${word}`}, ${item.description}, ${item.category})`
    })
    last = word
  }

  async function isLastFound(url: string): Promise<boolean> {
    const [best] = await ask(url, { text: last })
    return best?.name.endsWith(` ${last}`) ?? false
  }

  return { add, isLastFound }
}
