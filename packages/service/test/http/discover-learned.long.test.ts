// Discovery with word vectors that are learned from the market itself, which is German here.
import type { Product } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { learnSchedule } from '../../src/discovery/embeddings/learn.ts'
import { type Taught, teach } from '../../src/discovery/embeddings/testing.ts'
import { searchIndex } from '../../src/discovery/memory-index/client.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { ask, foundWhere, sellAll, startFinding } from './discover-market.ts'
import type { TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'

/** What shops say together of the same goods. */
const TOPICS = [
  ['Fahrrad', 'Velo', 'Drahtesel', 'Sattel', 'Pedale'],
  ['Semmel', 'Brötchen', 'Schrippe', 'Bäckerei', 'Ofenfrisch'],
  ['Klempner', 'Installateur', 'Rohrbruch', 'Wasserhahn', 'Abfluss'],
  ['Fernseher', 'Bildschirm', 'Flimmerkiste', 'Empfang', 'Sender'],
]
/** Other goods, without a meaning: a market has more topics than a vector has dimensions. */
const LETTERS = [...'bdfgklmnprt']
const OTHERS = LETTERS.flatMap((first) =>
  LETTERS.map((second) => [...'fgkmp'].map((last) => `${first}u${second}a${last}ung`)),
)
const ALL = [...TOPICS, ...OTHERS]
const FIRST = 5 * ALL.length

let m: TestMarket
let bicycle: Product

beforeAll(async () => {
  m = await startFinding({ EMBEDDER: 'learned' })
  ;[bicycle] = (await sellAll(m, await openRecorded(m), [
    { name: 'Fahrrad', description: 'mit bequemem Sattel' },
    { name: 'Semmel', description: 'aus der Bäckerei' },
    { name: 'Installateur', description: 'auch am Sonntag' },
  ])) as [Product, Product, Product]
})
afterAll(() => m.close())

/** Products that teach; they are not on the chain, so that nobody can find them. */
const lessons = (count: number, from: number): Taught[] =>
  Array.from({ length: count }, (_, nr) => {
    const at = from + nr
    const words = ALL[at % ALL.length] ?? []
    const said = [0, 1, 3].map((step) => words[(Math.floor(at / ALL.length) + step) % words.length])
    return { owner: 1_000 + (at % 60), name: said.join(' '), description: `Artikel${at}` }
  })

async function learn(): Promise<string> {
  const { context, sql } = { context: m.service.context, sql: m.sql }
  const options = { least: FIRST, limits: { enough: 300, all: 10_000 } }
  await learnSchedule(context, options).run({ signal: new AbortController().signal, sql })
  const [newest] = await sql<{ id: string }[]>`
    SELECT embedder_id AS id FROM market.word_vectors ORDER BY number DESC LIMIT 1`
  return newest?.id ?? 'none'
}
const isReady = (id: string) =>
  m.sql`SELECT FROM market.embedders WHERE embedder_id = ${id} AND ready_at IS NOT NULL`.then(
    ({ count }) => count > 0,
  )

/** No product has this word; shops say it together with a word that one has. */
const QUERY = 'intent=Drahtesel'
const findsBicycle = ({
  products: [first],
}: {
  products: { product_id: string; sub_scores: { intent_match: number } }[]
}) => first?.product_id === bicycle.productId && first.sub_scores.intent_match > 0

describe('a market in another language than English', () => {
  it('does not know what a word means that no product has', async () => {
    const { body } = await ask(m, QUERY)
    expect(findsBicycle(body)).toBe(false)
  })

  it('finds by meaning what it has learned from its own texts', async () => {
    await teach(m.sql, m.chainId, lessons(FIRST, 0))
    const id = await learn()
    expect(id).toMatch(/^learned\//)
    const { body } = await foundWhere(m, QUERY, findsBicycle)
    expect(body.products[1].sub_scores.intent_match).toBeLessThan(body.products[0].sub_scores.intent_match)
  })

  it('goes on finding by meaning while it learns again, and when the new word vectors take over', async () => {
    await foundWhere(m, QUERY, findsBicycle)
    await teach(m.sql, m.chainId, lessons(FIRST + 10, FIRST))
    let isDone = false
    let answers = 0
    const asking = (async () => {
      while (!isDone) {
        const begun = performance.now()
        const { body } = await ask(m, QUERY)
        // Only a busy machine excuses an answer without the vector: it was waited for as long as a request may.
        if (!findsBicycle(body))
          expect(performance.now() - begun, JSON.stringify(body.products)).toBeGreaterThan(150)
        answers += 1
      }
    })()
    const taken = (async () => {
      const id = await learn()
      await until(() => isReady(id), 'the new word vectors to be ready')
      await until(() => searchIndex(m.service.context).embedderId === id, 'the index to have them')
      // However slow the machine is, some answers were given meanwhile and some come after.
      await Promise.race([asking, until(() => answers > 10, 'answers')])
      return id
    })().finally(() => {
      isDone = true
    })
    expect(await taken).toMatch(/^learned\//)
    await asking
    await foundWhere(m, QUERY, findsBicycle)
  })
})
