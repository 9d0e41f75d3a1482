import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useKeptFocus } from './kept-focus.ts'
import { ThemeSwitch } from './theme.tsx'

/** The frame of every page. */
export function Layout({ account, children }: { account: ReactNode; children: ReactNode }) {
  useKeptFocus()
  return (
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
          {account}
          <ThemeSwitch />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer className="bottom">
        <div>
          <p>A marketplace for purchases made by software agents.</p>
          <a href="/skill.md">What an agent reads to buy here</a>
          <a href="/docs">Reference</a>
        </div>
      </footer>
    </>
  )
}
