// Who is signed in, in the header. On public pages the server does not know: it renders an empty place of the same size.
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { short } from '../format/text.ts'
import { useSession } from './session.ts'

const AccountMenu = lazy(() => import('./account-menu.tsx'))

export const Account = () => (
  <div className="account">
    <Known />
  </div>
)

function Known() {
  const state = useSession()
  const [isBrowser, setBrowser] = useState(false)
  useEffect(() => setBrowser(true), [])
  if (!state) return null
  if (!state.session) {
    return (
      <Link to="/sign-in" className="button account-button">
        Sign in
      </Link>
    )
  }
  const closed = <span className="button account-button">{short(state.session.address)}</span>
  if (!isBrowser) return closed
  return (
    <Suspense fallback={closed}>
      <AccountMenu session={state.session} />
    </Suspense>
  )
}
