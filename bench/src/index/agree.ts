import { connect } from '@referrer/database'
import type { Measurement } from './measure.ts'
import { columnsOf, fingerprint } from './tables.ts'

/** Which mirrored table each table of records follows. */
const RECORDS_OF: Record<string, string> = {
  agent_records: 'identities',
  product_records: 'products',
  review_records: 'reviews',
}

/**
 * Throws unless every contender holds as many rows as the market has, and the same ones: every column of the last contender's tables,
 * which the others may exceed.
 */
export async function agree(measurements: readonly Measurement[]): Promise<void> {
  const contenders = measurements.map((each) => ({ ...each, sql: connect(each.databaseUrl, { max: 1 }) }))
  const last = contenders.at(-1)
  try {
    for (const [noun, table] of Object.entries(last?.contender.tables ?? {})) {
      const columns = last ? [...(await columnsOf(last.sql, table)).keys()] : []
      const digests = new Set<string>()
      for (const { contender, counts, sql } of contenders) {
        const { rows, digest } = await fingerprint(sql, contender.tables[noun] ?? noun, columns)
        const expected = counts[RECORDS_OF[noun] ?? noun]
        if (rows !== expected)
          throw new Error(`${contender.name} has ${rows} ${noun}, the market has ${expected}`)
        digests.add(digest)
      }
      if (digests.size > 1) throw new Error(`the contenders differ in ${noun} (${columns.join(', ')})`)
    }
  } finally {
    await Promise.all(contenders.map(({ sql }) => sql.end({ timeout: 5 })))
  }
}
