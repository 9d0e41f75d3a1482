import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Hex } from 'viem'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { refresh } from './chain-state.ts'
import { typedName, typedUrl } from './form-text.ts'
import { refreshDescribed } from './market-state.ts'
import { useChecked } from './use-checked.ts'

export interface About {
  name: string
  description: string
  category: string
  endpointUrl: string
}

interface Props {
  merchantId: number
  productId: Hex
  was: About
  onDone?: () => void
}

const MOST_DESCRIPTION = 2_000
const MOST_CATEGORY = 64

/** What the chain does not say about a product: the market keeps it, and it costs nothing. */
export function DescribeForm({ merchantId, productId, was, onDone }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, told, showErrors } = useChecked()
  // Only what was changed here: the rest follows what is known of the product.
  const [edited, setEdited] = useState<Partial<About>>({})
  const about = { ...was, ...edited }
  const { data: known } = useQuery(read(api, '/v1/category'))
  const name = typedName(about.name)
  const url = typedUrl(about.endpointUrl)
  const saving = useMutation({
    mutationFn: () =>
      api.post('/v1/merchant/product', {
        body: {
          merchant_id: merchantId,
          product_id: productId,
          endpoint_url: url.value ?? '',
          name: name.value ?? '',
          description: about.description.trim(),
          category: about.category.trim(),
        },
      }),
    onSuccess: async () => {
      await Promise.all([refresh(queries), refreshDescribed(queries)])
      onDone?.()
    },
  })
  const set = (field: keyof About) => (event: { target: { value: string } }) =>
    setEdited({ ...edited, [field]: event.target.value })
  function save(event: React.FormEvent) {
    event.preventDefault()
    if (saving.isPending) return
    if (name.error || url.error) showErrors()
    else saving.mutate()
  }
  return (
    <form className="form" ref={form} onSubmit={save} noValidate>
      <Field label="Name" error={told(name.error)} help="What buyers and reviewers call it.">
        <FieldControl value={about.name} onChange={set('name')} maxLength={200} />
      </Field>
      <Field
        label="What a buyer gets"
        help="Agents search in this text. Say what goes in and what comes out."
      >
        <FieldControl
          render={<textarea rows={4} maxLength={MOST_DESCRIPTION} />}
          value={about.description}
          onChange={set('description')}
        />
      </Field>
      <Field label="Category" help="One word, such as data, text or images. It may stay empty.">
        <FieldControl
          value={about.category}
          onChange={set('category')}
          maxLength={MOST_CATEGORY}
          list="known-categories"
        />
      </Field>
      <datalist id="known-categories">
        {known?.categories.map(({ category }) => (
          <option key={category} value={category} />
        ))}
      </datalist>
      <Field
        label="Address of the endpoint"
        error={told(url.error)}
        help="Where buyers reach it. Links of existing reviews lead to the new address at once."
      >
        <FieldControl
          type="url"
          value={about.endpointUrl}
          onChange={set('endpointUrl')}
          placeholder="https://shop.example/buy"
        />
      </Field>
      <div className="row">
        <Button kind="main" type="submit" isBusy={saving.isPending}>
          Save the description
        </Button>
        <p role="status" className="small">
          {saving.isSuccess
            ? 'Saved. The market shows it now.'
            : 'The market keeps it; no transaction is sent.'}
        </p>
      </div>
      {saving.error && <ErrorNote error={saving.error} />}
    </form>
  )
}
