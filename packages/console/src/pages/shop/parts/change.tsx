import { type ReactNode, useId, useState } from 'react'
import { Button } from '../../../ui/button.tsx'

interface Props {
  label: string
  children: (close: () => void) => ReactNode
}

/** Shows a form only when it is wanted; it is made anew each time. */
export function Change({ label, children }: Props) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <div className="change">
      <Button aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Close this' : label}
      </Button>
      <div id={id} hidden={!isOpen}>
        {isOpen && children(() => setOpen(false))}
      </div>
    </div>
  )
}
