import { Field as Base } from '@base-ui/react/field'
import type { ReactNode } from 'react'

interface Props {
  label: string
  help?: ReactNode
  /** What is wrong with what was entered. */
  error?: string | undefined
  /** An input, a select or a text area from `FieldControl`, or a control of Base UI. */
  children: ReactNode
}

/** A label, its control, help, and what is wrong; Base UI ties them together for screen readers. */
export const Field = ({ label, help, error, children }: Props) => (
  <Base.Root className="field" invalid={error !== undefined}>
    <Base.Label>{label}</Base.Label>
    {children}
    {help && <Base.Description className="field-help">{help}</Base.Description>}
    {error && (
      <Base.Error className="field-error" match>
        {error}
      </Base.Error>
    )}
  </Base.Root>
)

export const FieldControl = Base.Control
