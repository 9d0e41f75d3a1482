import type { Parts } from '../../parts.ts'
import { report } from '../../report.ts'
import type { Query } from './judgements.ts'
import { differenceOf, type Scores, scoresOf } from './scores.ts'

/** Ids of products for each question, best first. */
export interface Lists {
  first: string[][]
  deep: string[][]
  /** Questions whose first products were not those that the engine names. */
  differing: number
}

/** Undefined: this engine could not be measured. */
type Found = Record<'plain BM25' | 'ours, words alone' | 'vectors alone' | 'ours, both', Lists | undefined>

/** As it was published with the data. */
const PUBLISHED: Scores = { ndcg: 0.739, condensed: 0.817, recall: 0.891, judged: 0.8 }

export function createSummary(queries: readonly Query[], isPublished: boolean, parts: Parts) {
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  const rows: Record<string, string | number>[] = []
  const lines: string[] = []

  function addRow(questions: string, engine: string, scores: Scores, note = ''): void {
    for (const [name, value] of Object.entries(scores)) figures[key(questions, engine, name)] = value
    rows.push({
      questions,
      engine,
      'nDCG@10': scores.ndcg.toFixed(3),
      condensed: scores.condensed.toFixed(3),
      'recall@100': scores.recall.toFixed(3),
      'judged@10': scores.judged.toFixed(2),
      'both against words alone': note,
    })
  }

  function add(questions: string, found: Found): void {
    if (rows.length === 0 && isPublished) addRow(questions, 'plain BM25, as published', PUBLISHED)
    const words = found['ours, words alone']
    const both = found['ours, both']
    for (const [engine, lists] of Object.entries(found)) {
      if (!lists) continue
      const note = engine === 'ours, both' && words ? differenceText(lists, words) : ''
      addRow(questions, engine, scoresOf(queries, lists.first, lists.deep), note)
    }
    if (!words || !both || !found['vectors alone']) return
    const scoreOf = (engine: keyof Found) => figures[key(questions, engine, 'ndcg')] ?? Number.NaN
    const best = Math.max(scoreOf('ours, words alone'), scoreOf('vectors alone'))
    ratios[key(questions, 'both_to_better_of_two')] = scoreOf('ours, both') / best
    ratios[key(questions, 'both_to_plain_BM25')] = scoreOf('ours, both') / scoreOf('plain BM25')
    if (scoreOf('ours, both') <= best)
      lines.push(`target missed: questions ${questions}, both are no better than the better of the two`)
    const differing = words.differing + both.differing
    if (differing > 0)
      lines.push(
        `questions ${questions}: ${differing} answers of the endpoint differ from those of the engine`,
      )
  }

  function differenceText(both: Lists, words: Lists): string {
    const { better, worse, mean, interval } = differenceOf(queries, both.first, words.first)
    return `${better} better, ${worse} worse; ${signed(mean)} (${interval.map(signed).join(' to ')})`
  }

  function tell(): void {
    report({ name: 'discover-quality', figures, ratios, rows, failed: parts.failed })
    for (const line of lines) console.log(line)
  }

  return { add, tell }
}

const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`
const key = (...words: string[]) => words.join(' ').replaceAll(/\W+/g, '_')
