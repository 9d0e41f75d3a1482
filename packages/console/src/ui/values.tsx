// Values as people read them; the exact one is always at hand.
import { useEffect, useState } from 'react'
import { ago, full } from '../format/moment.ts'
import { formatRank, plain, short } from '../format/text.ts'
import { alignedUsdc, formatUnits, formatUsdc } from '../format/usdc.ts'
import { useNow } from './now.tsx'

interface UsdcProps {
  amount: number | bigint
  /** All amounts of the table's column that it stands in: there it has no unit, and the points are below each other. */
  column?: readonly (number | bigint)[]
}

/** An amount in USDC, with its base units on hover. */
export const Usdc = ({ amount, column }: UsdcProps) => (
  <data className="number" value={String(amount)} title={`${formatUnits(amount)} base units`}>
    {column ? alignedUsdc(amount, column) : `${formatUsdc(amount)}\u00A0USDC`}
  </data>
)

/** How long ago, with the exact moment on hover. */
export const Moment = ({ at }: { at: string }) => (
  <time dateTime={at} title={full(at)}>
    {ago(at, useNow())}
  </time>
)

/** Text of strangers: never markup, apart from what stands around it, cut when it is endless. */
export const Foreign = ({ text, most }: { text: string; most?: number }) => (
  <bdi className="foreign">{plain(text, most)}</bdi>
)

/** A rank from 0 to 1 as a bar and a number; null: not ranked yet. */
export const Rank = ({ rank, label = 'Rank' }: { rank: number | null | undefined; label?: string }) =>
  rank === null || rank === undefined ? (
    <span className="rank soft" title={`${label}: not enough evidence yet`}>
      new
    </span>
  ) : (
    <span className="rank" title={`${label} ${formatRank(rank)} of 1`}>
      <svg className="rank-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="6" rx="3" className="rank-track" />
        <rect width={Math.max(0, Math.min(1, rank)) * 100} height="6" rx="3" className="rank-fill" />
      </svg>
      <span className="number">{formatRank(rank)}</span>
    </span>
  )

/** One to five stars; null: the review has no score. */
export const Stars = ({ score }: { score: number | null }) =>
  score === null ? (
    <span className="soft">no score</span>
  ) : (
    <span className="stars" role="img" aria-label={`${score} of 5`}>
      {'★'.repeat(Math.max(0, Math.min(5, Math.round(score))))}
      <span>{'★'.repeat(5 - Math.max(0, Math.min(5, Math.round(score))))}</span>
    </span>
  )

/** An address or a hash, short, whole on hover, with a button that copies it. */
export const Hash = ({
  value,
  href,
  label = 'address',
}: {
  value: string
  href?: string
  label?: string
}) => (
  <span className="hash">
    <code title={value}>{href ? <a href={href}>{short(value)}</a> : short(value)}</code>
    <CopyButton text={value} label={`Copy ${label}`} />
  </span>
)

const SHOWN_MS = 1_500

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <button
      type="button"
      className="copy"
      aria-label={isCopied ? 'Copied' : label}
      title={isCopied ? 'Copied' : label}
      onClick={() => navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {isCopied ? <path d="m3 8.5 3.5 3.5L13 4.5" /> : <path d="M5.5 5.5h7v8h-7zM3.5 10.5v-8h7" />}
      </svg>
    </button>
  )
}
