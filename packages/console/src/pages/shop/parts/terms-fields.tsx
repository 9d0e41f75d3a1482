import { Field, FieldControl } from '../../../ui/field.tsx'
import { Usdc } from '../../../ui/values.tsx'
import { sharesOf, type Typed } from './form-text.ts'

export interface Terms {
  price: string
  commission: string
}

interface Props {
  terms: Terms
  onChange: (terms: Terms) => void
  price: Typed<bigint>
  commission: Typed<number>
  told: (error: string | undefined) => string | undefined
}

/** The lowest price and the commission, with what they mean for a sale. */
export function TermsFields({ terms, onChange, price, commission, told }: Props) {
  const shares =
    price.value !== undefined && commission.value !== undefined
      ? sharesOf(price.value, commission.value)
      : undefined
  return (
    <>
      <Field
        label="Lowest price in USDC"
        error={told(price.error)}
        help="Your endpoint may ask for more, never for less. It keeps people from buying a proof of purchase for nothing."
      >
        <FieldControl
          inputMode="decimal"
          value={terms.price}
          onChange={(event) => onChange({ ...terms, price: event.target.value })}
          placeholder="0.05"
        />
      </Field>
      <Field
        label="Commission in percent"
        error={told(commission.error)}
        help="What reviewers work for. You pay it only when somebody buys through a review."
      >
        <FieldControl
          inputMode="decimal"
          value={terms.commission}
          onChange={(event) => onChange({ ...terms, commission: event.target.value })}
          placeholder="10"
        />
      </Field>
      {shares && (
        <p className="note small">
          Of a sale at the lowest price at most <Usdc amount={shares.commission} /> is commission, and at
          least <Usdc amount={shares.least} /> goes to you.
        </p>
      )}
    </>
  )
}
