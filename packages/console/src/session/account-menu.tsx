import { Menu } from '@base-ui/react/menu'
import { Link } from '@tanstack/react-router'
import { short } from '../format/text.ts'
import { type Session, useSignOut } from './session.ts'

const PAGES = [
  ['/me', 'My agents'],
  ['/me/purchases', 'My purchases'],
  ['/me/spending', 'Spending'],
  ['/me/chat', 'Chat'],
  ['/me/sessions', 'Sessions'],
  ['/shop', 'My shop'],
] as const

export default function AccountMenu({ session }: { session: Session }) {
  const signOut = useSignOut()
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        className="button account-button"
        aria-label={`Signed in as ${short(session.address)}`}
        title={session.address}
      >
        {short(session.address)}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="menu-place" align="end" sideOffset={6}>
          <Menu.Popup className="menu">
            {PAGES.map(([to, name]) => (
              <Menu.LinkItem key={to} className="menu-item" closeOnClick render={<Link to={to} />}>
                {name}
              </Menu.LinkItem>
            ))}
            {session.isAdmin && (
              <Menu.LinkItem className="menu-item" closeOnClick render={<Link to="/operator" />}>
                Operator
              </Menu.LinkItem>
            )}
            <Menu.Separator className="menu-line" />
            <Menu.Item className="menu-item" onClick={() => signOut()}>
              Sign out
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}
