import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { refresh } from '../parts/chain-state.ts'
import { typedUrl } from '../parts/form-text.ts'
import { useChecked } from '../parts/use-checked.ts'

interface Profile {
  description: string
  website: string
}

const MOST_DESCRIPTION = 2_000

export function ProfileForm({ merchantId, was }: { merchantId: number; was: Profile }) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, told, showErrors } = useChecked()
  const [edited, setEdited] = useState<Partial<Profile>>({})
  const { description, website } = { ...was, ...edited }
  const url = website.trim() === '' ? { value: '' } : typedUrl(website)
  const saving = useMutation({
    mutationFn: (landing_page_url: string) =>
      api.post('/v1/merchant/profile', {
        body: { merchant_id: merchantId, description: description.trim(), landing_page_url },
      }),
    onSuccess: () => refresh(queries),
  })
  function save(event: React.FormEvent) {
    event.preventDefault()
    if (saving.isPending) return
    if (url.value === undefined) showErrors()
    else saving.mutate(url.value)
  }
  return (
    <form className="form" ref={form} noValidate onSubmit={save}>
      <Field label="About the shop" help="One or two sentences: who you are, and what you sell.">
        <FieldControl
          render={<textarea rows={3} maxLength={MOST_DESCRIPTION} />}
          value={description}
          onChange={(event) => setEdited({ ...edited, description: event.target.value })}
        />
      </Field>
      <Field label="Website" error={told(url.error)} help="It may stay empty.">
        <FieldControl
          type="url"
          value={website}
          onChange={(event) => setEdited({ ...edited, website: event.target.value })}
          placeholder="https://shop.example/"
        />
      </Field>
      <div className="row">
        <Button type="submit" kind="main" isBusy={saving.isPending}>
          Save
        </Button>
        <p role="status" className="small">
          {saving.isSuccess ? 'Saved. Buyers see it now.' : 'The market keeps it; no transaction is sent.'}
        </p>
      </div>
      {saving.error && <ErrorNote error={saving.error} />}
    </form>
  )
}
