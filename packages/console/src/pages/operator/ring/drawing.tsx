// Who voted for whom, as a drawing, and in words below it.
import { short } from '../../../format/text.ts'
import { arrangement } from './arrangement.ts'
import type { RingCase } from './case.ts'

/** More lines would hide each other. */
const MOST_LINES = 300
const MOST_IN_WORDS = 30

export function Drawing({ ring: { owners, pairs } }: { ring: RingCase }) {
  const { size, radius, nodes, lines } = arrangement(
    owners.map(({ owner }) => owner),
    pairs.slice(0, MOST_LINES),
  )
  if (lines.length === 0) return <p className="soft">The agents that voted have other owners now.</p>
  const numbers = new Map(owners.map(({ owner }, index) => [owner, index + 1]))
  return (
    <div className="ring-drawing">
      <svg
        viewBox={`0 0 ${size} ${size}`}
        role="img"
        aria-label="Members in a circle, with a line for each pair that voted"
      >
        {lines.map(({ key, from, to, strength }) => (
          <line
            key={key}
            className="ring-line"
            x1={from.x}
            y1={from.y}
            x2={to.x}
            y2={to.y}
            strokeWidth={strength}
          />
        ))}
        {nodes.map(({ name, x, y, number }) => (
          <g key={name}>
            <circle className="ring-node" cx={x} cy={y} r={radius} />
            <text className="ring-number" x={x} y={y} dy="0.35em" textAnchor="middle">
              {number}
            </text>
          </g>
        ))}
      </svg>
      <details>
        <summary>In words</summary>
        <ul className="plain-list small">
          {pairs.slice(0, MOST_IN_WORDS).map(({ voter, author, votes }) => (
            <li key={`${voter} ${author}`}>
              {numbers.get(voter) ?? '…'}. {short(voter)} voted for {numbers.get(author) ?? '…'}.{' '}
              {short(author)}
              {votes === 1 ? ' once' : ` ${votes} times`}
            </li>
          ))}
        </ul>
        {pairs.length > MOST_IN_WORDS && (
          <p className="soft small">And {(pairs.length - MOST_IN_WORDS).toLocaleString('en')} more pairs.</p>
        )}
      </details>
    </div>
  )
}
