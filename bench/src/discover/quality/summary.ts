import type { Parts } from '../../parts.ts'
import { report } from '../../report.ts'
import type { Compared } from './endpoint.ts'
import { REPHRASINGS, type Rephrasing } from './rephrase.ts'
import { differenceOf, scoresOf } from './scores.ts'
import type { Query } from './sets.ts'

/** Ids of products for each question, best first. */
export type Lists = Record<Rephrasing, string[][]>

export const WORDS = 'words'
/** What the others are compared with. */
export const PLAIN = 'plain BM25'
const KINDS = Object.keys(REPHRASINGS) as Rephrasing[]
/** With fewer questions, look at single answers instead. */
const ENOUGH = 10

export function createSummary(parts: Parts) {
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  const rows: Record<string, string>[] = []
  const lines: string[] = []

  /** The engines in the order of the table; what the others add is told beside words. */
  function add(set: string, queries: readonly Query[], engines: ReadonlyMap<string, Lists>): void {
    addRows(`${set}, ${queries.length} questions`, queries, engines, () => true)
    const groups: [string, (query: Query) => boolean][] = [
      ['not English', ({ language }) => language !== 'en'],
      ['with a filter', ({ category, ceiling }) => category !== undefined || ceiling !== undefined],
    ]
    for (const [group, isIn] of groups) {
      const { length } = queries.filter(isIn)
      if (length >= ENOUGH) addRows(`${set}, ${length} ${group}`, queries, engines, isIn)
    }
  }

  function addRows(
    name: string,
    all: readonly Query[],
    engines: ReadonlyMap<string, Lists>,
    isIn: (query: Query) => boolean,
  ): void {
    const queries = all.filter(isIn)
    const of = (lists: readonly string[][]) => lists.filter((_, at) => isIn(all[at] as Query))
    const words = engines.get(WORDS)
    const plain = engines.get(PLAIN)
    for (const [engine, lists] of engines) {
      const scores = KINDS.map((kind) => scoresOf(queries, of(lists[kind])))
      KINDS.forEach((kind, at) => {
        if (plain === undefined || engine === PLAIN) return
        const beside = scoresOf(queries, of(plain[kind])).ndcg
        ratios[key(name, engine, kind, 'to plain BM25')] = (scores[at]?.ndcg ?? Number.NaN) / beside
      })
      KINDS.forEach((kind, at) => {
        for (const [figure, value] of Object.entries(scores[at] ?? {}))
          figures[key(name, engine, kind, figure)] = value
      })
      const each = (figure: 'ndcg' | 'condensed' | 'recall') =>
        scores.map((score) => score[figure].toFixed(3).replace(/^0/, '')).join(' ')
      const row: Record<string, string> = {
        questions: name,
        engine,
        'nDCG@10': each('ndcg'),
        condensed: each('condensed'),
        'recall@100': each('recall'),
        'judged@10': scores.map(({ judged }) => judged.toFixed(2).replace(/^0/, '')).join(' '),
      }
      for (const kind of KINDS)
        row[`${kind}, against words`] =
          words === undefined || engine === WORDS
            ? ''
            : differenceText(differenceOf(queries, of(lists[kind]), of(words[kind])))
      rows.push(row)
    }
  }

  function addCompared(name: string, { asked, differing, differingEarly }: Compared): void {
    figures[key(name, 'asked')] = asked
    figures[key(name, 'differing')] = differing.length
    lines.push(
      `${name}: of ${asked} answers of the endpoint ${differing.length} differ from the engine's, ${differingEarly} in the first ten`,
      ...differing.slice(0, 5).map((text) => `  ${text}`),
    )
  }

  function tell(): void {
    console.log(`\nThree figures in a cell: ${KINDS.join(', ')}.`)
    report({ name: 'discover-quality', figures, ratios, rows, failed: parts.failed })
    for (const line of lines) console.log(line)
  }

  return { add, addCompared, tell }
}

const differenceText = ({ mean, interval }: ReturnType<typeof differenceOf>) =>
  `${signed(mean)} (${interval.map(signed).join(' to ')})`
const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3).replace(/^0/, '')}`
const key = (...words: string[]) => words.join(' ').replaceAll(/\W+/g, '_')
