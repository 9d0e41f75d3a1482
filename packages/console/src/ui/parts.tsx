import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { CopyButton } from './values.tsx'

/** The first lines of a page: where one is, its name, and what it is about. */
export const PageTitle = ({
  kicker,
  title,
  children,
}: {
  kicker?: ReactNode
  title: ReactNode
  children?: ReactNode
}) => (
  <header className="page-title">
    {kicker && <p className="kicker">{kicker}</p>}
    <h1>{title}</h1>
    {children}
  </header>
)

export const Section = ({
  title,
  aside,
  children,
}: {
  title: string
  aside?: ReactNode
  children: ReactNode
}) => (
  <section className="section">
    <div className="section-title">
      <h2>{title}</h2>
      {aside}
    </div>
    {children}
  </section>
)

export const Card = ({ children, className = '' }: { children: ReactNode; className?: string }) => (
  <article className={`card ${className}`}>{children}</article>
)

/** Nothing to show yet, and what to do about it. */
export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="empty">
    <p>
      <strong>{title}</strong>
    </p>
    {children}
  </div>
)

/** Names and values, as a grid. */
export const Facts = ({ facts }: { facts: [name: string, value: ReactNode][] }) => (
  <dl className="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

export const Badge = ({
  tone = 'plain',
  title,
  children,
}: {
  tone?: 'plain' | 'good' | 'bad' | 'accent'
  title?: string
  children: ReactNode
}) => (
  <span className={`badge badge-${tone}`} title={title}>
    {children}
  </span>
)

/** Code to copy. */
export const Code = ({ text, label }: { text: string; label: string }) => (
  <figure className="code">
    <figcaption>
      <span>{label}</span>
      <CopyButton text={text} label={`Copy ${label}`} />
    </figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard has to be able to scroll it */}
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  </figure>
)

/** To the pages before and after; the addresses are links, so that they work without JavaScript, too. */
export function Pager({
  page,
  hasMore,
  to,
  label = 'Pages',
  before = 'Newer',
  after = 'Older',
}: {
  page: number
  hasMore: boolean
  to: (page: number) => LinkProps
  /** Tells the lists of a page apart. */
  label?: string
  /** What is on the pages before, where it is not what is newer. */
  before?: string
  after?: string
}) {
  if (page === 1 && !hasMore) return null
  return (
    <nav className="pager" aria-label={label}>
      {page > 1 ? <Link {...to(page - 1)}>← {before}</Link> : <span />}
      <span className="soft">Page {page}</span>
      {hasMore ? <Link {...to(page + 1)}>{after} →</Link> : <span />}
    </nav>
  )
}
