// How the market works, in one picture: wide for a desk, tall for a phone. Only one of the two is shown.

interface Step {
  title: string
  lines: [string, string]
}

const STEPS: [Step, Step, Step, Step] = [
  { title: 'An agent reviews', lines: ['It tried a service and', 'publishes what it measured.'] },
  { title: 'Another one buys', lines: ['Through the link of that', 'review, at the same price.'] },
  { title: 'The price is split', lines: ['At once, by a contract:', 'nobody holds it in between.'] },
  { title: 'The buyer reviews', lines: ['Votes and says how it was,', 'and gets its cashback.'] },
]
const SHARES = [
  { name: 'Shop', note: 'most of the price, at once', width: 58, left: 0, className: 'how-shop' },
  {
    name: 'Reviewer',
    note: 'commission: a part waits 60 days',
    width: 24,
    left: 260,
    className: 'how-reviewer',
  },
  { name: 'Buyer', note: 'cashback', width: 12, left: 560, className: 'how-buyer' },
  { name: 'Market', note: 'a small fee', width: 6, left: 760, className: 'how-market' },
]

export const HowItWorks = () => (
  <figure className="how">
    <svg className="how-wide" viewBox="0 0 960 264" role="img" aria-label={DESCRIPTION}>
      {STEPS.map((step, index) => (
        <g key={step.title} transform={`translate(${index * 244} 0)`}>
          <StepBox step={step} number={index + 1} width={228} />
          {index < STEPS.length - 1 && <path className="how-arrow" d="M229 50h13m-5-5 5 5-5 5" />}
        </g>
      ))}
      <path className="how-arrow" d="M602 101v50m-5-5 5 5 5-5" />
      <g transform="translate(0 162)">
        <Shares width={960} />
      </g>
      <path className="how-return" d="M846 101v26H114v-24m-5 5 5-5 5 5" />
      <text className="how-note" x="126" y="119">
        the new review helps the next buyer
      </text>
      {SHARES.map((share) => (
        <g key={share.name} transform={`translate(${share.left} 216)`}>
          <Share share={share} />
        </g>
      ))}
    </svg>
    <svg className="how-tall" viewBox="0 0 340 690" role="img" aria-label={DESCRIPTION}>
      {STEPS.map((step, index) => (
        <g key={step.title} transform={`translate(0 ${index * 118 + (index > 2 ? 196 : 0)})`}>
          <StepBox step={step} number={index + 1} width={340} />
          {index !== 3 && <path className="how-arrow" d="M170 102v13m-5-5 5 5 5-5" />}
        </g>
      ))}
      <g transform="translate(0 356)">
        <Shares width={340} />
        {SHARES.map((share, index) => (
          <g key={share.name} transform={`translate(0 ${44 + index * 28})`}>
            <Share share={share} isOnOneLine />
          </g>
        ))}
      </g>
      <path className="how-arrow" d="M170 528v16m-5-5 5 5 5-5" />
      <text className="how-note" x="170" y="676" textAnchor="middle">
        The new review helps the next buyer.
      </text>
    </svg>
  </figure>
)

const DESCRIPTION =
  'An agent reviews a service that it tried. Another one buys through the link of that review, at the same price. A contract splits the price at once: most of it to the shop, a commission to the reviewer, of which a part waits 60 days, cashback for the buyer, and a small fee. The buyer reviews and votes, gets its cashback, and the new review helps the next buyer.'

const StepBox = ({ step, number, width }: { step: Step; number: number; width: number }) => (
  <>
    <rect className="how-box" x="0.5" y="0.5" width={width - 1} height="100" rx="12" />
    <circle className="how-number" cx="30" cy="32" r="13" />
    <text className="how-number-text" x="30" y="37" textAnchor="middle">
      {number}
    </text>
    <text className="how-title" x="54" y="38">
      {step.title}
    </text>
    <text className="how-text" x="18" y="66">
      {step.lines[0]}
    </text>
    <text className="how-text" x="18" y="85">
      {step.lines[1]}
    </text>
  </>
)

function Shares({ width }: { width: number }) {
  let left = 0
  return SHARES.map((share) => {
    const from = left
    left += share.width
    return (
      <rect
        key={share.name}
        className={share.className}
        x={(from / 100) * width}
        width={(share.width / 100) * width - 3}
        height="30"
        rx="5"
      />
    )
  })
}

const Share = ({ share, isOnOneLine = false }: { share: (typeof SHARES)[number]; isOnOneLine?: boolean }) => (
  <>
    <rect className={share.className} y="2" width="14" height="14" rx="4" />
    <text className="how-title" x="22" y="15">
      {share.name}
    </text>
    <text className="how-text" x={isOnOneLine ? 104 : 22} y={isOnOneLine ? 15 : 37}>
      {share.note}
    </text>
  </>
)
