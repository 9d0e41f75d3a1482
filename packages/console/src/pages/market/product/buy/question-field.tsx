import { useRef, useState } from 'react'
import { Field, FieldControl } from '../../../../ui/field.tsx'
import { readQuestion, writeQuestion } from './question.ts'

/** What the product is asked: the field, and what it says when it is right. */
export function useQuestion(first: Record<string, string>, onEdit?: () => void) {
  const [text, setText] = useState(() => writeQuestion(first))
  const [error, setError] = useState<string>()
  const area = useRef<HTMLTextAreaElement>(null)
  const field = (
    <Field
      label="What you ask the product"
      help="One name=value on a line, such as city=Tokyo. Leave it empty when the product asks for nothing."
      error={error}
    >
      <FieldControl
        render={<textarea ref={area} rows={2} />}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          onEdit?.()
        }}
      />
    </Field>
  )
  /** Undefined: it is not right, and the field says why. */
  function read(): Record<string, string> | undefined {
    const question = readQuestion(text)
    setError('error' in question ? question.error : undefined)
    if ('query' in question) return question.query
    area.current?.focus()
    return undefined
  }
  return { field, read }
}
