import { useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { type ContentField, contentOf, LONGEST_DESCRIPTION, wrongDescription, wrongIn } from './content.ts'

interface Props {
  /** What the category asks for besides. */
  fields: ContentField[]
  /** Arithmetic between the figures, in words. */
  mustHold: readonly string[]
  onSubmit: (content: string) => void
}

const RATINGS: [rating: number, word: string][] = [
  [5, 'Excellent'],
  [4, 'Good'],
  [3, 'Fair'],
  [2, 'Poor'],
  [1, 'Bad'],
]

export function ReviewForm({ fields, mustHold, onSubmit }: Props) {
  const [rating, setRating] = useState<number>()
  const [description, setDescription] = useState('')
  const [texts, setTexts] = useState<Record<string, string>>({})
  const [isChecked, setChecked] = useState(false)
  const nameOf = ({ path }: ContentField) => path.join('.')
  const textOf = (field: ContentField) => texts[nameOf(field)] ?? ''
  const firstWrong = (): string | undefined => {
    if (rating === undefined) return 'rating'
    if (wrongDescription(description)) return 'description'
    const field = fields.find((one) => wrongIn(one, textOf(one)))
    return field && nameOf(field)
  }
  return (
    <form
      className="form"
      noValidate
      aria-label="Review"
      onSubmit={(event) => {
        event.preventDefault()
        setChecked(true)
        const wrong = firstWrong()
        if (wrong !== undefined) {
          const found = event.currentTarget.elements.namedItem(wrong)
          const element = found instanceof RadioNodeList ? found[0] : found
          ;(element as HTMLElement | null | undefined)?.focus()
        } else if (rating !== undefined) {
          onSubmit(
            contentOf(
              rating,
              description,
              fields.map((field) => ({ field, text: textOf(field) })),
            ),
          )
        }
      }}
    >
      <fieldset className="ratings">
        <legend className="field-label">Rating</legend>
        {RATINGS.map(([value, word]) => (
          <label key={value} className="check">
            <input
              type="radio"
              name="rating"
              value={value}
              checked={rating === value}
              onChange={() => setRating(value)}
            />
            <span>
              <span className="stars" aria-hidden="true">
                {'★'.repeat(value)}
              </span>{' '}
              {word}
            </span>
          </label>
        ))}
        {isChecked && rating === undefined && <p className="field-error">Choose a rating.</p>}
      </fieldset>
      <Field
        label="What you found"
        help="What you used it for, what worked, what did not, with figures where you have them."
        error={isChecked ? wrongDescription(description) : undefined}
      >
        <FieldControl
          name="description"
          value={description}
          onChange={(event) => setDescription(event.target.value)}
          render={<textarea rows={6} maxLength={LONGEST_DESCRIPTION} />}
        />
      </Field>
      {fields.length > 0 && (
        <>
          <p className="small soft">
            Reviews of this category have measurements.
            {mustHold.length > 0 && ` It must hold: ${mustHold.join('; ')}.`}
          </p>
          <div className="measurements">
            {fields.map((field) => (
              <Field
                key={nameOf(field)}
                label={field.label}
                error={isChecked ? wrongIn(field, textOf(field)) : undefined}
              >
                <FieldControl
                  name={nameOf(field)}
                  inputMode={field.kind === 'text' ? 'text' : 'decimal'}
                  value={textOf(field)}
                  onChange={(event) => setTexts({ ...texts, [nameOf(field)]: event.target.value })}
                />
              </Field>
            ))}
          </div>
        </>
      )}
      <p className="small soft">
        Your wallet sends one transaction with the hash of the text. It costs the network’s fee and nothing
        else. You can change the text for 7 days.
      </p>
      <Button kind="main" type="submit">
        Publish the review
      </Button>
    </form>
  )
}
