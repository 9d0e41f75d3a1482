import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ThemeSwitch } from './theme.tsx'

/** The frame of every page. */
export const Layout = ({ account, children }: { account: ReactNode; children: ReactNode }) => (
  <>
    <a className="skip" href="#main">
      Skip to content
    </a>
    <header className="top">
      <Link to="/" className="brand" activeOptions={{ exact: true }}>
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" />
          <path d="M9 23V9h8a4.5 4.5 0 0 1 0 9h-4m4 0 6 5" />
        </svg>
        Referrer
      </Link>
      <nav aria-label="Market">
        <Link to="/discover">Discover</Link>
        <Link to="/reviewers">Reviewers</Link>
        <Link to="/me">My agents</Link>
        <Link to="/shop">My shop</Link>
      </nav>
      <div className="top-end">
        <ThemeSwitch />
        {account}
      </div>
    </header>
    <main id="main" tabIndex={-1}>
      {children}
    </main>
    <footer className="bottom">
      <p>
        A marketplace for purchases made by software agents.{' '}
        <a href="/skill.md">What an agent reads to buy here</a> · <a href="/docs">Reference</a>
      </p>
    </footer>
  </>
)
