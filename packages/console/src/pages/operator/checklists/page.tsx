import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog, DialogClose } from '../../../ui/dialog.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { Card, Empty, Pager, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Foreign, Hash, Moment } from '../../../ui/values.tsx'
import { OperatorPage } from '../parts/frame.tsx'
import { itemsIn } from './items.ts'

const checklistsRoute = getRouteApi('/operator/checklists')

const LIMIT = 50
const LIST = ['/admin/checklists']

export const ChecklistsPage = () => (
  <OperatorPage
    title="Checklists"
    lead="What buyers of a category are told to look at, beside what they find."
  >
    <Written />
  </OperatorPage>
)

interface Draft {
  category: string
  text: string
}

function Written() {
  const { page = 1 } = checklistsRoute.useSearch()
  const asked = { params: { query: { page, limit: LIMIT } } }
  const { data, error, refetch } = useQuery(read(useApi(), '/admin/checklists', asked))
  const [draft, setDraft] = useState<Draft>({ category: '', text: '' })
  return (
    <>
      <Editor key={draft.category} draft={draft} />
      <Section title="Written so far">
        {error && <ErrorNote error={error} onRetry={() => refetch()} />}
        {!data && !error && <Skeleton lines={6} />}
        {data?.checklists.length === 0 && (
          <Empty title="No category has a checklist yet">
            <p>Write the first one above.</p>
          </Empty>
        )}
        <div className="grid">
          {data?.checklists.map(({ category, items, authored_at, authored_by }) => (
            <Card key={category}>
              <h3>
                <Foreign text={category} most={100} />
              </h3>
              <ul className="items">
                {items.map((item) => (
                  <li key={item}>
                    <Foreign text={item} most={200} />
                  </li>
                ))}
              </ul>
              <p className="soft small">
                <Moment at={authored_at} /> by <Hash value={authored_by} />
              </p>
              <div className="row">
                <Button
                  aria-label={`Change the checklist of ${category}`}
                  onClick={() => setDraft({ category, text: items.join('\n') })}
                >
                  Change
                </Button>
                <Remove category={category} />
              </div>
            </Card>
          ))}
        </div>
        {data && (
          <Pager
            page={page}
            hasMore={data.checklists.length === LIMIT}
            before="Before"
            after="After"
            to={(to) => ({ to: '/operator/checklists', search: { page: to } })}
          />
        )}
      </Section>
    </>
  )
}

function Editor({ draft }: { draft: Draft }) {
  const api = useApi()
  const queries = useQueryClient()
  const [category, setCategory] = useState(draft.category)
  const [text, setText] = useState(draft.text)
  const [isChecked, setChecked] = useState(false)
  const items = itemsIn(text)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      api.put('/admin/checklists/{category}', {
        params: { path: { category: category.trim() } },
        body: { items: items.items },
      }),
    onSuccess: async () => {
      announce(`The checklist of ${category.trim()} is written`)
      setCategory('')
      setText('')
      setChecked(false)
      await queries.invalidateQueries({ queryKey: LIST })
    },
  })
  return (
    <form
      className="form"
      noValidate
      aria-label="Write a checklist"
      onSubmit={(event) => {
        event.preventDefault()
        setChecked(true)
        const wrong = category.trim() === '' ? 'category' : items.error ? 'items' : undefined
        if (wrong) (event.currentTarget.elements.namedItem(wrong) as HTMLElement).focus()
        else if (!isPending) mutate()
      }}
    >
      <Field
        label="Category"
        error={isChecked && category.trim() === '' ? 'Name the category as its products do.' : undefined}
      >
        <FieldControl
          name="category"
          maxLength={100}
          value={category}
          onChange={(event) => setCategory(event.target.value)}
        />
      </Field>
      <Field label="Items" help="One in a line, at most twenty." error={isChecked ? items.error : undefined}>
        <FieldControl
          name="items"
          value={text}
          render={<textarea rows={6} />}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <div>
        <Button type="submit" kind="main" isBusy={isPending}>
          Write the checklist
        </Button>
      </div>
      {error && <ErrorNote error={error} />}
    </form>
  )
}

function Remove({ category }: { category: string }) {
  const api = useApi()
  const queries = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.delete('/admin/checklists/{category}', { params: { path: { category } } }),
    onSuccess: async () => {
      announce('The checklist is removed')
      await queries.invalidateQueries({ queryKey: LIST })
    },
  })
  return (
    <Dialog
      title="Remove this checklist?"
      trigger={
        <Button kind="bad" aria-label={`Remove… the checklist of ${category}`}>
          Remove…
        </Button>
      }
    >
      <p>
        Buyers of <Foreign text={category} most={100} /> will not be told what to look at.
      </p>
      <div className="row">
        <Button kind="main" isBusy={isPending} onClick={() => mutate()}>
          Remove it
        </Button>
        <DialogClose>Keep it</DialogClose>
      </div>
      {error && <ErrorNote error={error} />}
    </Dialog>
  )
}
