import { merchantCall, productIdOf, slugOf } from '@referrer/client/chain'
import { useState } from 'react'
import type { Hex } from 'viem'
import { short } from '../../../format/text.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { typedCommission, typedName, typedPrice } from '../parts/form-text.ts'
import { TermsFields } from '../parts/terms-fields.tsx'
import { Transaction } from '../parts/transaction.tsx'
import { useChecked } from '../parts/use-checked.ts'
import type { OnChain } from '../parts/with-chain.tsx'

interface Props {
  onChain: OnChain
  merchantId: number
  /** Products that are listed already; the name is empty until it is described. */
  products: { id: Hex; name: string }[]
  onChoose: (product: { id: Hex; name: string }) => void
}

/** A product that is listed, or a new one. */
export const ListingStep = ({ onChain, merchantId, products, onChoose }: Props) => (
  <>
    {products.length > 0 && (
      <div>
        <h3>Products of this shop</h3>
        <div className="row shop-choices">
          {products.map((product) => (
            <Button key={product.id} onClick={() => onChoose(product)}>
              {product.name || `Product ${short(product.id)}`}
            </Button>
          ))}
        </div>
      </div>
    )}
    <ListingForm onChain={onChain} merchantId={merchantId} products={products} onChoose={onChoose} />
  </>
)

const TYPES = [
  ['repeat', 'Again and again', 'Buyers come back, such as for data or an answer.'],
  ['one-off', 'Once', 'One buyer buys it one time, such as a report.'],
] as const

function ListingForm({ onChain, merchantId, products, onChoose }: Props) {
  const { deployment } = onChain
  const { form, told, showErrors } = useChecked()
  const [nameText, setName] = useState('')
  const [terms, setTerms] = useState({ price: '', commission: '10' })
  const [isOneOff, setOneOff] = useState(false)
  const name = typedName(nameText)
  const price = typedPrice(terms.price, deployment.leastAmount)
  const commission = typedCommission(terms.commission)
  const id = name.value && productIdOf(slugOf(name.value))
  const isTaken = id !== undefined && products.some((product) => product.id === id)
  const nameError = name.error ?? (isTaken ? 'You list a product of this name already.' : undefined)
  const call =
    id && !isTaken && price.value !== undefined && commission.value !== undefined
      ? merchantCall(deployment.contracts.MerchantRegistry, 'listProduct', [
          BigInt(merchantId),
          id,
          commission.value,
          price.value,
          Number(isOneOff),
          '',
        ])
      : undefined
  return (
    <form className="form" ref={form} noValidate onSubmit={(event) => event.preventDefault()}>
      <Field
        label="Name of a new product"
        error={told(nameError)}
        help={
          id
            ? `Its id on the chain will be ${short(id)}, made from the name.`
            : 'The name gives its id on the chain.'
        }
      >
        <FieldControl value={nameText} onChange={(event) => setName(event.target.value)} maxLength={200} />
      </Field>
      <TermsFields terms={terms} onChange={setTerms} price={price} commission={commission} told={told} />
      <fieldset className="choice">
        <legend className="field-label">How often does one buyer buy it?</legend>
        {TYPES.map(([type, title, about]) => (
          <label key={type}>
            <input
              type="radio"
              name="product-type"
              checked={isOneOff === (type === 'one-off')}
              onChange={() => setOneOff(type === 'one-off')}
            />
            <span>
              {title} <span className="soft small">{about}</span>
            </span>
          </label>
        ))}
        <p className="field-help">This cannot be changed later.</p>
      </fieldset>
      <Transaction
        onChain={onChain}
        label="List the product"
        call={call}
        onIncomplete={showErrors}
        onDone={() => id && onChoose({ id, name: nameText.trim() })}
      >
        Writes price, commission and type to the chain, where everybody can read them. Price and commission
        can be changed later.
      </Transaction>
    </form>
  )
}
