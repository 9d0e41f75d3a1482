import type { Transaction } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chainMigrations } from '../index.ts'
import { seedOf } from '../testing/random.ts'
import { enterBlock } from './store.ts'

const seed = seedOf()
let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase([chainMigrations])
  await database.sql.unsafe(`
    CREATE SCHEMA ledger;
    CREATE TABLE ledger.entries (
      chain_id bigint, id bigint, name text, bytes bytea, amount numeric(78), "when" timestamptz, flag boolean, score float8,
      PRIMARY KEY (chain_id, id));
    CREATE TABLE ledger.tags (tag bytea, chain_id bigint, note text, PRIMARY KEY (tag, chain_id));
    SELECT indexer.mirror('ledger.entries'), indexer.mirror('ledger.tags');`)
})
afterAll(() => database.drop())

interface Entry {
  name: string | null
  bytes: Uint8Array | null
  amount: bigint | null
  when: string | null
  flag: boolean | null
  score: number | null
}
type Write =
  | { type: 'put'; id: bigint; entry: Entry }
  | { type: 'touch'; id: bigint; name: string }
  | { type: 'remove'; id: bigint }
  | { type: 'tag'; tag: Uint8Array; note: string }
  | { type: 'untag'; tag: Uint8Array }

const EMPTY: Entry = { name: null, bytes: null, amount: null, when: null, flag: null, score: null }
const put = (id: bigint, entry: Partial<Entry> = {}): Write => ({
  type: 'put',
  id,
  entry: { ...EMPTY, ...entry },
})

async function perform(tx: Transaction, chain: bigint, write: Write): Promise<void> {
  switch (write.type) {
    case 'put': {
      const { id } = write
      const { name, bytes, amount, when, flag, score } = write.entry
      const blob = bytes && Buffer.from(bytes)
      await tx`
        INSERT INTO ledger.entries VALUES (${chain}, ${id}, ${name}, ${blob}, ${amount}, ${when}::text::timestamptz, ${flag}, ${score})
        ON CONFLICT (chain_id, id) DO UPDATE SET name = excluded.name, bytes = excluded.bytes, amount = excluded.amount,
          "when" = excluded."when", flag = excluded.flag, score = excluded.score`
      break
    }
    case 'touch':
      await tx`UPDATE ledger.entries SET name = ${write.name} WHERE chain_id = ${chain} AND id = ${write.id}`
      break
    case 'remove':
      await tx`DELETE FROM ledger.entries WHERE chain_id = ${chain} AND id = ${write.id}`
      break
    case 'tag':
      await tx`
        INSERT INTO ledger.tags VALUES (${Buffer.from(write.tag)}, ${chain}, ${write.note})
        ON CONFLICT (tag, chain_id) DO UPDATE SET note = excluded.note`
      break
    case 'untag':
      await tx`DELETE FROM ledger.tags WHERE chain_id = ${chain} AND tag = ${Buffer.from(write.tag)}`
      break
  }
}

const inBlock = (chain: bigint, block: bigint | null, writes: Write[]) =>
  database.sql.begin(async (tx) => {
    await enterBlock(tx, block)
    for (const write of writes) await perform(tx, chain, write)
  })
const rollBack = (chain: bigint, block: bigint) => database.sql`SELECT indexer.roll_back(${chain}, ${block})`
/** Every row as Postgres itself spells it, so that nothing is lost in between. */
async function stateOf(chain: bigint): Promise<string[]> {
  const rows = await database.sql<{ row: string }[]>`
    SELECT row::text FROM ledger.entries AS row WHERE chain_id = ${chain}
    UNION ALL SELECT row::text FROM ledger.tags AS row WHERE chain_id = ${chain} ORDER BY 1`
  return rows.map(({ row }) => row)
}
const undoOf = (chain: bigint) =>
  database.sql<{ block_number: bigint }[]>`
    SELECT block_number FROM indexer.undo WHERE chain_id = ${chain} ORDER BY block_number, seq`

let chains = 0n
const newChain = () => ++chains

const full: Entry = {
  name: 'O’Brien "\\" {a,b} \n',
  bytes: Uint8Array.from([0, 1, 0xfe, 0xff]),
  amount: 10n ** 78n - 1n,
  when: '2026-02-28 23:59:59.999999+00',
  flag: false,
  score: 0.1 + 0.2,
}

describe('taking a block back', () => {
  it('removes what it inserted', async () => {
    const chain = newChain()
    await inBlock(chain, 1n, [put(1n)])
    await inBlock(chain, 2n, [put(2n, full), { type: 'tag', tag: Uint8Array.of(0), note: '' }])
    await rollBack(chain, 1n)
    expect(await stateOf(chain)).toEqual([`(${chain},1,,,,,,)`])
  })

  it('puts back what it changed, every column to the last digit', async () => {
    const chain = newChain()
    await inBlock(chain, 1n, [put(1n, full)])
    const before = await stateOf(chain)
    await inBlock(chain, 2n, [
      put(1n, { ...full, bytes: null, amount: 0n, when: 'infinity', score: Number.NaN }),
    ])
    expect(await stateOf(chain)).not.toEqual(before)
    await rollBack(chain, 1n)
    expect(await stateOf(chain)).toEqual(before)
    expect(before[0]).toContain('\\\\x0001feff')
    expect(before[0]).toContain(String(10n ** 78n - 1n))
    expect(before[0]).toContain('23:59:59.999999')
    expect(before[0]).toContain('0.30000000000000004')
  })

  it('puts back what it deleted', async () => {
    const chain = newChain()
    await inBlock(chain, 1n, [put(1n, full), put(2n)])
    const before = await stateOf(chain)
    await inBlock(chain, 2n, [
      { type: 'remove', id: 1n },
      { type: 'remove', id: 2n },
    ])
    expect(await stateOf(chain)).toEqual([])
    await rollBack(chain, 1n)
    expect(await stateOf(chain)).toEqual(before)
  })

  it('leaves other chains alone, though their rows have the same keys and blocks', async () => {
    const [ours, theirs] = [newChain(), newChain()]
    for (const chain of [ours, theirs])
      for (const block of [1n, 2n]) await inBlock(chain, block, [put(1n, { amount: block })])
    const before = await stateOf(theirs)
    await rollBack(ours, 0n)
    expect(await stateOf(ours)).toEqual([])
    expect(await stateOf(theirs)).toEqual(before)
    expect(await undoOf(theirs)).toHaveLength(2)
  })

  it('finds its way through many changes of one row in many blocks, to any depth', async () => {
    const chain = newChain()
    const states = [await stateOf(chain)]
    for (let block = 1n; block <= 8n; block += 1n) {
      const change = { type: 'touch', id: 1n, name: `${block}` } as const
      const end = block % 3n === 0n ? ({ type: 'remove', id: 1n } as const) : put(1n, { amount: block })
      await inBlock(chain, block, [put(1n, full), change, end])
      states.push(await stateOf(chain))
    }
    for (let block = 8n; block >= 0n; block -= 1n) {
      await rollBack(chain, block)
      expect(await stateOf(chain)).toEqual(states[Number(block)])
    }
  })

  it('forgets how to take back what is taken back', async () => {
    const chain = newChain()
    for (const block of [1n, 2n, 3n]) await inBlock(chain, block, [put(block)])
    await rollBack(chain, 1n)
    expect((await undoOf(chain)).map(({ block_number }) => block_number)).toEqual([1n])
  })

  it('remembers nothing of final blocks', async () => {
    const chain = newChain()
    await inBlock(chain, null, [put(1n), put(1n, full), { type: 'remove', id: 1n }])
    expect(await undoOf(chain)).toEqual([])
  })
})

describe('a mirrored table', () => {
  it.each([
    ['insert', `INSERT INTO ledger.entries VALUES (0, 2)`],
    ['update', `UPDATE ledger.entries SET name = 'x' WHERE chain_id = 0`],
    ['delete', `DELETE FROM ledger.entries WHERE chain_id = 0`],
  ])('refuses to %s for anybody but the indexer', async (_what, statement) => {
    await inBlock(0n, null, [put(1n)])
    const before = await stateOf(0n)
    await expect(database.sql.unsafe(statement)).rejects.toThrow(
      'ledger.entries mirrors the chain and is written by the indexer only',
    )
    expect(await stateOf(0n)).toEqual(before)
  })

  it('refuses them on a connection that the indexer used before', async () => {
    const session = await database.sql.reserve()
    try {
      await session`BEGIN`
      await session`SELECT set_config('indexer.block', '5', true)`
      await session`COMMIT`
      await expect(session`INSERT INTO ledger.entries VALUES (0, 3)`).rejects.toThrow('the indexer only')
    } finally {
      session.release()
    }
  })

  it('needs a primary key that tells the chain', async () => {
    await database.sql`CREATE TABLE ledger.loose (id bigint PRIMARY KEY, chain_id bigint)`
    await expect(database.sql`SELECT indexer.mirror('ledger.loose')`).rejects.toThrow(
      'ledger.loose needs a primary key that holds chain_id',
    )
  })

  it('loses the rows of a chain that is forgotten, and no others', async () => {
    const [ours, theirs] = [newChain(), newChain()]
    for (const chain of [ours, theirs]) await inBlock(chain, 1n, [put(1n, full)])
    const before = await stateOf(theirs)
    await database.sql`SELECT indexer.forget(${ours})`
    expect([await stateOf(ours), (await undoOf(ours)).length]).toEqual([[], 0])
    expect([await stateOf(theirs), (await undoOf(theirs)).length]).toEqual([before, 1])
  })
})

const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
const text = fc.string({ unit: 'grapheme', maxLength: 8 }).map((value) => value.replaceAll('\0', ''))
const id = fc.bigInt({ min: 0n, max: 3n })
const tag = fc.uint8Array({ minLength: 0, maxLength: 1, max: 2 })
const when = fc
  .tuple(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }), fc.nat(999))
  .map(([date, micros]) => date.toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`))
const entry: fc.Arbitrary<Entry> = fc.record({
  name: nullable(text),
  bytes: nullable(fc.uint8Array({ maxLength: 8 })),
  amount: nullable(fc.bigInt({ min: -(10n ** 77n), max: 10n ** 78n - 1n })),
  when: nullable(when),
  flag: nullable(fc.boolean()),
  score: nullable(fc.double()),
})
const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ type: fc.constant('put' as const), id, entry }),
  fc.record({ type: fc.constant('touch' as const), id, name: text }),
  fc.record({ type: fc.constant('remove' as const), id }),
  fc.record({ type: fc.constant('tag' as const), tag, note: text }),
  fc.record({ type: fc.constant('untag' as const), tag }),
)
/** Some blocks, and how many of them stay when the rest is taken back. */
const round = fc
  .array(fc.array(write, { maxLength: 6 }), { minLength: 1, maxLength: 5 })
  .chain((blocks) => fc.record({ blocks: fc.constant(blocks), keep: fc.nat(blocks.length) }))

it(`puts everything back as it was, whatever was written in whichever blocks (SEED=${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { maxLength: 6 }),
      fc.array(round, { minLength: 1, maxLength: 3 }),
      async (final, rounds) => {
        const chain = newChain()
        await inBlock(chain, null, final)
        const states = [await stateOf(chain)]
        for (const { blocks, keep } of rounds) {
          const kept = states.length - 1 + keep
          for (const writes of blocks) {
            await inBlock(chain, BigInt(states.length), writes)
            states.push(await stateOf(chain))
          }
          await rollBack(chain, BigInt(kept))
          states.length = kept + 1
          expect(await stateOf(chain)).toEqual(states.at(-1))
        }
        await rollBack(chain, 0n)
        expect(await stateOf(chain)).toEqual(states[0])
      },
    ),
    { seed, numRuns: 60 },
  )
})
