// What all pages of an owner have: the way between them, a title, and a session.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { RequireSession } from '../../../session/require-session.tsx'
import type { Session } from '../../../session/session.ts'
import { PageTitle } from '../../../ui/parts.tsx'
import { Toasts } from '../../../ui/toast.tsx'

const PAGES = [
  ['/me', 'Agents'],
  ['/me/purchases', 'Purchases'],
  ['/me/spending', 'Spending'],
  ['/me/chat', 'Chat'],
  ['/me/sessions', 'Sessions'],
] as const

interface Props {
  title: ReactNode
  kicker?: ReactNode
  lead?: ReactNode
  children: (session: Session) => ReactNode
}

export const OwnerPage = ({ title, kicker, lead, children }: Props) => (
  <>
    <nav className="side-ways" aria-label="My account">
      {PAGES.map(([to, name]) => (
        <Link key={to} to={to} activeOptions={{ exact: to === '/me', includeSearch: false }}>
          {name}
        </Link>
      ))}
    </nav>
    <PageTitle title={title} kicker={kicker}>
      {lead && <p className="lead">{lead}</p>}
    </PageTitle>
    <div className="owner">
      <RequireSession>{children}</RequireSession>
    </div>
    <Toasts />
  </>
)

/** The pages of one agent. */
export const AgentNav = ({ agentId }: { agentId: number }) => (
  <nav className="agent-ways" aria-label={`Agent ${agentId}`}>
    <Link to="/me/agent/$agentId" params={{ agentId: String(agentId) }} activeOptions={{ exact: true }}>
      Overview
    </Link>
    <Link to="/me/agent/$agentId/earnings" params={{ agentId: String(agentId) }}>
      Earnings
    </Link>
    <Link to="/me/agent/$agentId/proofs" params={{ agentId: String(agentId) }}>
      Proofs
    </Link>
    <Link to="/me/purchases" search={{ agent: agentId }}>
      Purchases
    </Link>
    <Link to="/reviewer/$agentId" params={{ agentId: String(agentId) }}>
      Public
    </Link>
  </nav>
)
