import { type ReactNode, useId, useState } from 'react'
import { Button } from '../../../ui/button.tsx'

/** Shows a form only when it is wanted; it is made anew each time. */
export function Change({ label, children }: { label: string; children: (close: () => void) => ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <div className="change">
      <Button aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Leave it as it is' : label}
      </Button>
      <div id={id} hidden={!isOpen}>
        {isOpen && children(() => setOpen(false))}
      </div>
    </div>
  )
}
