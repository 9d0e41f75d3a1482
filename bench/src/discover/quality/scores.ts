// How good a list of products is, by what people said of them.
import { Random } from '../../index/random.ts'
import type { Query } from './sets.ts'

export interface Scores {
  /** What was not judged counts as wrong. */
  ndcg: number
  /** What was not judged is passed over. */
  condensed: number
  /** Of what is relevant, the share among the first hundred. */
  recall: number
  /** Of the first ten, the share that somebody judged. */
  judged: number
}

const FIRST = 10
const DEEP = 100
const RELEVANT = 2
const RESAMPLES = 2_000

const gain = (grade: number) => 2 ** grade - 1
const dcg = (grades: readonly number[]) =>
  grades.slice(0, FIRST).reduce((sum, grade, at) => sum + gain(grade) / Math.log2(at + 2), 0)

const canBeFound = ({ grades }: Query) => [...grades.values()].some((grade) => grade > 0)

/** Undefined where nothing could be found: nobody is better there than anybody else. */
function ndcgOf(found: readonly string[], query: Query): number | undefined {
  if (!canBeFound(query)) return undefined
  const best = [...query.grades.values()].sort((a, b) => b - a)
  return dcg(found.map((id) => query.grades.get(id) ?? 0)) / dcg(best)
}

function recallOf(found: readonly string[], { grades }: Query): number | undefined {
  const relevant = [...grades].filter(([, grade]) => grade >= RELEVANT)
  if (relevant.length === 0) return undefined
  const first = new Set(found.slice(0, DEEP))
  return relevant.filter(([id]) => first.has(id)).length / relevant.length
}

/** Over all questions. */
export function scoresOf(queries: readonly Query[], lists: readonly string[][]): Scores {
  const mean = (of: (query: Query, at: number) => number | undefined) =>
    meanOf(queries.map(of).filter((value) => value !== undefined))
  const at = (index: number) => lists[index] ?? []
  return {
    ndcg: mean((query, index) => ndcgOf(at(index), query)),
    condensed: mean((query, index) =>
      ndcgOf(
        at(index).filter((id) => query.grades.has(id)),
        query,
      ),
    ),
    recall: mean((query, index) => recallOf(at(index), query)),
    judged: mean((query, index) => {
      const shown = at(index).slice(0, FIRST)
      return canBeFound(query) && shown.length > 0
        ? shown.filter((id) => query.grades.has(id)).length / shown.length
        : undefined
    }),
  }
}

export interface Difference {
  better: number
  worse: number
  mean: number
  /** Of the mean, were other questions of the same kind asked: 19 times of 20 it is in here. */
  interval: [low: number, high: number]
}

/** Question by question. */
export function differenceOf(
  queries: readonly Query[],
  one: readonly string[][],
  other: readonly string[][],
): Difference {
  const differences = queries.flatMap((query, at) => {
    const [a, b] = [ndcgOf(one[at] ?? [], query), ndcgOf(other[at] ?? [], query)]
    return a === undefined || b === undefined ? [] : [a - b]
  })
  const random = new Random(1)
  const means = Array.from({ length: RESAMPLES }, () =>
    meanOf(differences.map(() => random.pick(differences))),
  ).sort((a, b) => a - b)
  return {
    better: differences.filter((difference) => difference > 1e-9).length,
    worse: differences.filter((difference) => difference < -1e-9).length,
    mean: meanOf(differences),
    interval: [means[RESAMPLES * 0.025] ?? 0, means[RESAMPLES * 0.975] ?? 0],
  }
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
