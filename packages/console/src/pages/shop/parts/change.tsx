import { type ReactNode, useId, useRef, useState } from 'react'
import { Button } from '../../../ui/button.tsx'

interface Props {
  label: string
  children: (close: () => void) => ReactNode
}

/** Shows a form only when it is wanted; it is made anew each time. */
export function Change({ label, children }: Props) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  function close() {
    setOpen(false)
    button.current?.focus()
  }
  const id = useId()
  return (
    <div className="change">
      <Button ref={button} aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Close this' : label}
      </Button>
      <div id={id} hidden={!isOpen}>
        {isOpen && children(close)}
      </div>
    </div>
  )
}
