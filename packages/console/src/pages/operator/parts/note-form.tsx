// A decision that needs a reason: a button that opens a form with a note.
import { useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'

interface Props {
  /** What the button does, such as `Verify`. */
  action: string
  /** What it does it to, such as `shop 12`. */
  what: string
  /** Who reads the note, and what is to be in it. */
  help: string
  most: number
  isBad?: boolean
  isBusy: boolean
  error: Error | null
  onDecide: (note: string) => void
}

export function NoteForm({ action, what, help, most, isBad = false, isBusy, error, onDecide }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [note, setNote] = useState('')
  const [isChecked, setChecked] = useState(false)
  const isMissing = note.trim() === ''
  if (!isOpen)
    return (
      <div className="row">
        <Button
          kind={isBad ? 'bad' : 'plain'}
          onClick={() => setOpen(true)}
          aria-label={`${action}… ${what}`}
        >
          {action}…
        </Button>
      </div>
    )
  return (
    <form
      className="form"
      noValidate
      aria-label={`${action} ${what}`}
      onSubmit={(event) => {
        event.preventDefault()
        setChecked(true)
        if (isMissing) (event.currentTarget.elements.namedItem('note') as HTMLElement).focus()
        else if (!isBusy) onDecide(note.trim())
      }}
    >
      <Field label="Why" help={help} error={isChecked && isMissing ? 'Say why.' : undefined}>
        <FieldControl
          name="note"
          maxLength={most}
          value={note}
          autoFocus
          onChange={(event) => setNote(event.target.value)}
        />
      </Field>
      <div className="row">
        <Button type="submit" kind="main" isBusy={isBusy}>
          {action} {what}
        </Button>
        <Button onClick={() => setOpen(false)}>Not now</Button>
      </div>
      {error && <ErrorNote error={error} />}
    </form>
  )
}
