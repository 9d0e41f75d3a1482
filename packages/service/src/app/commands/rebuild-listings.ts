import { parseArgs } from 'node:util'
import { migrate, type Sql } from '@referrer/database'
import { createLog, describeVariables, failStart } from '@referrer/process'
import { lockFollowing } from '../../derived/following/following.ts'
import { makeListings } from '../../derived/listings/make.ts'
import { announceListings } from '../../derived/listings/store.ts'
import type { ProductOfChain } from '../../kit/keys.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { readConfig, variables } from '../config.ts'
import { openRecords } from '../service.ts'

const USAGE = `Makes anew, from the records, what discovery shows of all products: which are open, their reviews, and what these say.

Usage: npm run discovery:rebuild [-- --help]

The service may run meanwhile; whoever searches sees the listings of before until the new ones are there. Vectors and prices stay: they are
looked at again, and made anew where they are of another text or endpoint.

Environment: that of the service.
${describeVariables(variables)}
`

const AT_ONCE = 500
/** All reviews of a product are looked at. */
const WINDOW = 2 ** 31 - 1

/** Page by page, each in a transaction of its own. Returns how many products there are. */
export async function rebuildListings(
  sql: Sql,
  chainId: number,
  now: Date,
  progress: (count: number) => void = () => {},
): Promise<number> {
  let after: ProductOfChain = { merchantId: -1n, productId: Buffer.alloc(0) }
  let count = 0
  for (;;) {
    const page = await sql.begin(async (tx) => {
      await lockFollowing(tx, chainId)
      const products = await tx<ProductOfChain[]>`
        SELECT merchant_id AS "merchantId", product_id AS "productId" FROM market.products
        WHERE chain_id = ${chainId} AND (merchant_id, product_id) > (${after.merchantId}, ${after.productId}::bytea)
        ORDER BY merchant_id, product_id LIMIT ${AT_ONCE}`
      await makeListings(tx, chainId, products, { now, announced: [], window: WINDOW }, () => true)
      // The followers then look at texts and offers.
      await announceListings(tx, chainId, products)
      return products
    })
    const last = page.at(-1)
    if (last === undefined) return count
    after = last
    count += page.length
    progress(count)
  }
}

async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help) {
    process.stdout.write(USAGE)
    return
  }
  const config = readConfig(process.env)
  const database = await openRecords(config, createLog(config.logLevel))
  try {
    await migrate(database.sql, migrations)
    for (const { chainId } of config.chains) {
      const tell = (line: string) => process.stdout.write(`chain ${chainId}: ${line}\n`)
      const count = await rebuildListings(database.sql, chainId, new Date(), (sofar) => {
        if (sofar % 10_000 === 0) tell(`${sofar} products so far`)
      })
      tell(`${count} products`)
    }
  } finally {
    await database.close()
  }
}

if (import.meta.main) await main(process.argv.slice(2)).catch(failStart)
