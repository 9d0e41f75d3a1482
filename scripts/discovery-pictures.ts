// Draws the pictures of docs/discovery.md, with the scores and slots that the service itself computes:
//   node scripts/run.mjs scripts/discovery-pictures.ts
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { intentMatch, productScore } from '../packages/search/src/index.ts'
import { explainSlate } from '../packages/service/src/discovery/answers/explain.ts'
import { type Candidate, type Slot, slateOf } from '../packages/service/src/discovery/answers/slate.ts'

const FOLDER = join(import.meta.dirname, '../docs/pictures')
const NOW = new Date('2026-11-18T12:00:00Z')
const DAY_MS = 86_400_000
const WIDTH = 960

/** The answer of the sandbox that docs/discovery.md shows, to “I need dayligt and sunset times for Tokyo”. */
const SHARE = 0.3711187574672632
const PRODUCTS = [
  { name: 'Daylight', words: 0.3218787728688031, near: 0.6844767611577737, rank: 0.5 },
  { name: 'Daylight almanac', words: 0.12043479516283255, near: 0.4172698916164371, rank: 0.5 },
  { name: 'Summary', words: 0, near: 0, rank: 0.5 },
]

interface Written {
  rating: number
  /** Null: none yet. */
  rank: number | null
  relevance: number
  days: number
  mark?: 'own' | 'sold' | 'flagged'
}

/** Twelve reviews of one product. */
const REVIEWS: readonly Written[] = [
  { rating: 5, rank: 0.92, relevance: 0.55, days: 40 },
  { rating: 5, rank: 0.55, relevance: 0.9, days: 2, mark: 'own' },
  { rating: 4, rank: 0.84, relevance: 0.48, days: 15 },
  { rating: 5, rank: 0.78, relevance: 0.6, days: 200 },
  { rating: 5, rank: null, relevance: 0.7, days: 1 },
  { rating: 2, rank: 0.71, relevance: 0.52, days: 30 },
  { rating: 5, rank: 0.66, relevance: 0.4, days: 9, mark: 'sold' },
  { rating: 4, rank: null, relevance: 0.45, days: 3 },
  { rating: 1, rank: 0.58, relevance: 0.35, days: 75 },
  { rating: 3, rank: 0.62, relevance: 0.2, days: 120 },
  { rating: 5, rank: null, relevance: 0.1, days: 0 },
  { rating: 5, rank: 0.81, relevance: 0.5, days: 20, mark: 'flagged' },
]

const STYLE = `
    .name { font-size: 15px; font-weight: 600; fill: #1b1f26 }
    .note { font-size: 13px; fill: #505866 }
    .sum { font-size: 14px; font-weight: 600; fill: #1b1f26 }
    .line { stroke: #d5dae1 }
    .first { fill: #2f6fed } .second { fill: #0b7d71 } .third { fill: #a86400 }
    .in { font-size: 13px; fill: #fff }
    .slot { fill: #eef1f5 } .taken { fill: #dfeaff } .out { fill: #fbe4e2 }
    @media (prefers-color-scheme: dark) {
      .name, .sum { fill: #e6edf3 } .note { fill: #9da7b3 } .line { stroke: #30363d }
      .first { fill: #7fadff } .second { fill: #4fc9ba } .third { fill: #e3a341 } .in { fill: #0d1117 }
      .slot { fill: #21262d } .taken { fill: #17315c } .out { fill: #4a1f1d }
    }`

const svg = (height: number, title: string, desc: string, body: readonly string[]) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title desc" font-family="system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif">
  <title id="title">${title}</title>
  <desc id="desc">${desc}</desc>
  <style>${STYLE}
  </style>
${body.map((line) => `  ${line}`).join('\n')}
</svg>
`

const text = (kind: string, x: number, y: number, said: string, anchor?: 'middle' | 'end') =>
  `<text class="${kind}" x="${+x.toFixed(1)}" y="${y}"${anchor ? ` text-anchor="${anchor}"` : ''}>${said}</text>`

const KINDS = ['first', 'second', 'third']

/** The parts of a score side by side, and their sum behind them. */
function bar(x: number, y: number, height: number, scale: number, parts: readonly number[]): string[] {
  let from = x
  const drawn = parts.flatMap((part, at) => {
    const width = part * scale
    const start = from
    from += width
    if (part === 0) return []
    const label = text('in', start + width / 2, y + height / 2 + 4.5, part.toFixed(3), 'middle')
    const box = `<rect class="${KINDS[at]}" x="${start.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${height}"/>`
    return width < 40 ? [box] : [box, label]
  })
  const sum = parts.reduce((all, part) => all + part, 0)
  return [...drawn, text('sum', from + 8, y + height / 2 + 5, sum.toFixed(3))]
}

const legend = (y: number, entries: readonly (readonly [x: number, said: string])[]) =>
  entries.flatMap(([x, said], at) => [
    `<rect class="${KINDS[at]}" x="${x}" y="${y - 11}" width="14" height="14" rx="3"/>`,
    text('note', x + 22, y, said),
  ])

export function drawProducts(): string {
  const [left, scale] = [180, 1_500]
  const rows = PRODUCTS.flatMap(({ name, words, near, rank }, at) => {
    const y = 60 + at * 62
    const match = intentMatch(words, near, SHARE)
    const parts = [productScore((1 - SHARE) * words, 0), productScore(SHARE * near, 0), productScore(0, rank)]
    const why =
      match > 0 ? `words ${words.toFixed(2)}, near ${near.toFixed(2)}` : 'matches nothing: filled up by rank'
    return [
      text('name', left - 14, y + 20, name, 'end'),
      ...bar(left, y, 30, scale, parts),
      text('note', left + 6, y + 46, why),
    ]
  })
  return svg(
    280,
    'What the score of a product is made of',
    'Three products of one answer, each with a bar of three parts: words, vectors and Product Rank.',
    [
      ...legend(30, [
        [left, '0.7 × (1 − share) × words'],
        [left + 240, '0.7 × share × near (vectors)'],
        [left + 490, '0.3 × Product Rank'],
      ]),
      ...rows,
      `<path class="line" d="M${left} 48V238"/>`,
      text(
        'note',
        left,
        264,
        `product_score is the sum. The share of the vectors is ${SHARE.toFixed(2)} in this answer.`,
      ),
    ],
  )
}

const candidateOf = ({ rating, rank, relevance, days, mark }: Written, at: number): Candidate => ({
  internalId: BigInt(at + 1),
  agentId: BigInt(at + 1),
  rank,
  flagged: mark === 'flagged',
  satisfaction: (rating - 1) / 4,
  publishedAt: new Date(NOW.getTime() - days * DAY_MS),
  isOwn: mark === 'own',
  transferredAt: mark === 'sold' ? new Date(NOW.getTime() - 3 * DAY_MS) : null,
  relevance,
})

const SLOTS: Record<Slot, string> = {
  highlight: 'taken',
  newcomer: 'taken',
  dissent: 'taken',
  excluded: 'out',
  overflow: 'slot',
}

/** Lines of at most this many characters. */
function wrapped(said: string, most: number): string[] {
  const lines = ['']
  for (const word of said.split(' ')) {
    const line = lines.at(-1) as string
    if (line !== '' && line.length + 1 + word.length > most) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

export function drawSlate(): string {
  const [top, step, left, scale] = [84, 42, 208, 400]
  const slate = slateOf(REVIEWS.map(candidateOf), 'repeat', NOW)
  const explained = explainSlate(slate)
  const rows = slate.entries
    .toSorted((a, b) => b.score - a.score)
    .flatMap(({ internalId, slot, rankFrom, authorRank }, at) => {
      const y = top + at * step
      const { rating } = REVIEWS[Number(internalId) - 1] as Written
      const why = explained.get(internalId)
      if (!why) throw new Error('every review is explained')
      const author = { rank: `rank ${authorRank}`, base_rate: 'no rank', flagged: 'flagged' }[rankFrom]
      const parts = [why.author_rank, why.relevance, why.freshness].map(({ contributes }) => contributes)
      const lines = wrapped(why.slot_because, 36)
      const firstLine = y + 20 - (lines.length - 1) * 8
      return [
        `<path class="line" d="M20 ${y - 7}H940"/>`,
        text('name', 40, y + 20, 'ABCDEFGHIJKL'[at] as string, 'middle'),
        text('note', 92, y + 20, `${rating} of 5`, 'middle'),
        text('note', 162, y + 20, author, 'middle'),
        ...bar(left, y + 1, 27, scale, parts),
        `<rect class="${SLOTS[slot]}" x="593" y="${y + 2}" width="96" height="25" rx="12"/>`,
        text('sum', 641, y + 19, slot, 'middle'),
        ...lines.map((line, number) => text('note', 698, firstLine + number * 15, line)),
      ]
    })
  const bottom = top + REVIEWS.length * step
  return svg(
    bottom + 50,
    'Which of twelve reviews takes which slot, and why',
    'Twelve reviews of one product, the highest score first. Each has a bar of three parts (rank of the author, relevance, freshness), its slot and the reason.',
    [
      ...legend(26, [
        [left, '0.5 × author_rank'],
        [left + 160, '0.35 × relevance'],
        [left + 310, '0.15 × freshness'],
      ]),
      text('note', 92, 60, 'rating', 'middle'),
      text('note', 162, 60, 'author', 'middle'),
      text('note', left, 60, 'score'),
      text('note', 641, 60, 'slot', 'middle'),
      text('note', 698, 60, 'because'),
      ...rows,
      `<path class="line" d="M20 ${bottom - 7}H940"/>`,
      text(
        'note',
        20,
        bottom + 16,
        'Chosen in this order: the excluded ones go out; the best newcomer; the best of the minority; of the rest, the two best.',
      ),
      text('note', 20, bottom + 36, 'What remains is the overflow, shown only with include_all=true.'),
    ],
  )
}

export const PICTURES = { 'product-score.svg': drawProducts, 'slate.svg': drawSlate }

if (import.meta.main) {
  for (const [name, draw] of Object.entries(PICTURES)) writeFileSync(join(FOLDER, name), draw())
}
