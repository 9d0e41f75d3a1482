import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactElement, ReactNode } from 'react'

interface Props {
  title: string
  /** The button that opens it; it gets the focus back. Left out: `isOpen` alone decides. */
  trigger?: ReactElement<Record<string, unknown>>
  isOpen?: boolean
  onOpenChange?: (isOpen: boolean) => void
  children: ReactNode
}

/** A question before something happens. Escape and the button in the corner close it; the focus goes in and back. */
export const Dialog = ({ title, trigger, isOpen, onOpenChange, children }: Props) => (
  <Base.Root
    {...(isOpen !== undefined && { open: isOpen })}
    {...(onOpenChange && { onOpenChange: (open) => onOpenChange(open) })}
  >
    {trigger && <Base.Trigger render={trigger} />}
    <Base.Portal>
      <Base.Backdrop className="dialog-backdrop" />
      <Base.Popup className="dialog">
        <div className="dialog-top">
          <Base.Title className="dialog-title">{title}</Base.Title>
          <Base.Close className="dialog-close" aria-label="Close">
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d="m4 4 8 8m0-8-8 8" />
            </svg>
          </Base.Close>
        </div>
        <div className="stack">{children}</div>
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
)

/** A button in a dialog that closes it. */
export const DialogClose = ({ children }: { children: ReactNode }) => (
  <Base.Close className="button button-plain">{children}</Base.Close>
)
