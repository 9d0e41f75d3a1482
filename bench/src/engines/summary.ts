import type { Parts } from '../parts.ts'
import { report } from '../report.ts'
import type { Candidate } from './engine.ts'
import type { Figures, Part } from './measure.ts'

export type Outcome = { candidate: Candidate; part: Part; figures: Figures }

/** One row for each engine and part; ratios are ours to theirs. */
export function summarise(outcomes: readonly Outcome[], items: number, { failed }: Parts): void {
  const figures: Figures = { items }
  const ratios: Figures = {}
  const measured = new Map<string, Figures>()
  for (const { candidate, part, figures: found } of outcomes) {
    measured.set(`${candidate.name} ${part}`, found)
    for (const [key, value] of Object.entries(found))
      figures[`${plain(candidate.name)}_${part}_${key}`] = value
  }
  for (const { candidate, part } of outcomes) {
    const ours = measured.get(`ours ${part}`)
    const theirs = measured.get(`${candidate.name} ${part}`)
    if (!ours || !theirs || ours === theirs) continue
    for (const key of ['all_p50_ms', 'all_p99_ms', 'small_p99_ms', 'memory_bytes', 'build_seconds']) {
      ratios[`${part}_${key}_ours_to_${plain(candidate.name)}`] =
        (ours[key] ?? Number.NaN) / (theirs[key] ?? Number.NaN)
    }
  }
  report({ name: 'discover-engines', figures, ratios, rows: outcomes.map(rowOf), failed })
}

function rowOf({ candidate, part, figures }: Outcome): Record<string, string> {
  const show = (key: string, digits: number, scale = 1) => {
    const value = figures[key]
    return value === undefined ? '' : (value * scale).toFixed(digits)
  }
  const pair = (kind: string) => `${show(`${kind}_p50_ms`, 2)} / ${show(`${kind}_p99_ms`, 2)}`
  const recall = (first: number) =>
    part === 'vectors'
      ? ['all', 'large', 'small'].map((kind) => show(`${kind}_recall_${first}`, 2)).join(' ')
      : ''
  return {
    engine: `${candidate.name}, ${part}`,
    'build s': show('build_seconds', 1),
    MB: show('memory_bytes', 0, 1e-6),
    'all p50/p99 ms': pair('all'),
    'CPU ms': show('all_cpu_ms', 2),
    'of 10 %': pair('large'),
    'of 1 %': pair('small'),
    'recall@10': recall(10),
    'recall@100': recall(100),
    'nDCG@10': show('ndcg_10', 3),
    'update ms': show('update_visible_ms', 1),
    'removal ms': show('removal_visible_ms', 1),
    licence: candidate.licence,
    release: candidate.released,
    binaries: candidate.binaries,
  }
}

const plain = (name: string) => name.replaceAll(/\W+/g, '_')
