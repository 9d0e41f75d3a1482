// What all pages of an operator have: the way between them, a title, and an admin's session.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { RequireSession } from '../../../session/require-session.tsx'
import { Empty, PageTitle } from '../../../ui/parts.tsx'
import { Toasts } from '../../../ui/toast.tsx'
import { Hash } from '../../../ui/values.tsx'

const PAGES = [
  ['/operator', 'Health'],
  ['/operator/proofs', 'Proofs'],
  ['/operator/disputes', 'Disputes'],
  ['/operator/agents', 'Flags'],
  ['/operator/shops', 'Shops'],
  ['/operator/rings', 'Rings'],
  ['/operator/checklists', 'Checklists'],
] as const

export const OperatorPage = ({
  title,
  lead,
  children,
}: {
  title: string
  lead: ReactNode
  children: ReactNode
}) => (
  <>
    <nav className="side-ways" aria-label="Operating the market">
      {PAGES.map(([to, name]) => (
        <Link key={to} to={to} activeOptions={{ exact: to === '/operator', includeSearch: false }}>
          {name}
        </Link>
      ))}
    </nav>
    <PageTitle title={title}>
      <p className="lead">{lead}</p>
    </PageTitle>
    <RequireSession>
      {({ address, isAdmin }) =>
        isAdmin ? (
          children
        ) : (
          <Empty title="These pages are for the people who run the market">
            <p>
              You are signed in as <Hash value={address} />. Sign in with an account of the setting{' '}
              <code>ADMIN_ADDRESSES</code>.
            </p>
            <p>
              <Link to="/sign-in" search={{ to: '/operator' }} className="button">
                Use another account
              </Link>
            </p>
          </Empty>
        )
      }
    </RequireSession>
    <Toasts />
  </>
)
