// Who is signed in, in the header. The server renders an empty place of the same size.
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useSession } from './session.ts'

const AccountMenu = lazy(() => import('./account-menu.tsx'))

export function Account() {
  const [isBrowser, setBrowser] = useState(false)
  useEffect(() => setBrowser(true), [])
  return <div className="account">{isBrowser && <Known />}</div>
}

function Known() {
  const state = useSession()
  if (!state) return null
  if (!state.session) {
    return (
      <Link to="/sign-in" className="button account-button">
        Sign in
      </Link>
    )
  }
  return (
    <Suspense>
      <AccountMenu session={state.session} />
    </Suspense>
  )
}
