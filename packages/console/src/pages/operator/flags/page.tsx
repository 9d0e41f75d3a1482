import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { plural } from '../../../format/text.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog, DialogClose } from '../../../ui/dialog.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { AgentLink } from '../../../ui/links.tsx'
import { Empty, Pager, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Hash, Moment } from '../../../ui/values.tsx'
import { OperatorPage } from '../parts/frame.tsx'

const flagsRoute = getRouteApi('/operator/agents')

export const FlagsPage = () => (
  <OperatorPage
    title="Flagged agents"
    lead="A flagged agent’s rank counts as 0: its reviews go down in every list, and its commission falls to the least."
  >
    <FlagForm />
    <Flagged />
  </OperatorPage>
)

function useFlag() {
  const api = useApi()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, isFlagged }: { id: number; isFlagged: boolean }) =>
      api.post(isFlagged ? '/admin/agents/{id}/flag' : '/admin/agents/{id}/unflag', {
        params: { path: { id } },
      }),
    onSuccess: async ({ agent_id, flagged }) => {
      announce(`Agent ${agent_id} is ${flagged ? 'flagged' : 'not flagged any more'}`)
      await Promise.all(
        ['/admin/agents', '/admin/rings', '/admin/rings/{ring_id}'].map((route) =>
          queries.invalidateQueries({ queryKey: [route] }),
        ),
      )
    },
  })
}

/** Other pages link here with the agent that is to be flagged. */
function FlagForm() {
  const { agent } = flagsRoute.useSearch()
  const [text, setText] = useState(agent === undefined ? '' : String(agent))
  const [isAsking, setAsking] = useState(false)
  const [isChecked, setChecked] = useState(false)
  const { mutate, isPending, error } = useFlag()
  const isId = /^\d{1,15}$/.test(text.trim())
  return (
    <form
      className="form"
      noValidate
      aria-label="Flag an agent"
      onSubmit={(event) => {
        event.preventDefault()
        setChecked(true)
        if (isId) setAsking(true)
        else (event.currentTarget.elements.namedItem('agent') as HTMLElement).focus()
      }}
    >
      <Field
        label="Agent"
        help="Its number, as its page shows it."
        error={isChecked && !isId ? 'Enter the number of an agent.' : undefined}
      >
        <FieldControl
          name="agent"
          inputMode="numeric"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <div>
        <Button type="submit">Flag…</Button>
      </div>
      <Dialog title={`Flag agent ${text.trim()}?`} isOpen={isAsking} onOpenChange={setAsking}>
        <p>Its rank counts as 0 from now on, for discovery and for commissions. You can take it back.</p>
        <div className="row">
          <Button
            kind="main"
            isBusy={isPending}
            onClick={() =>
              mutate(
                { id: Number(text), isFlagged: true },
                { onSettled: () => setAsking(false), onSuccess: () => setText('') },
              )
            }
          >
            Flag agent {text.trim()}
          </Button>
          <DialogClose>Not now</DialogClose>
        </div>
      </Dialog>
      {error && <ErrorNote error={error} />}
    </form>
  )
}

function Flagged() {
  const { page = 1 } = flagsRoute.useSearch()
  const asked = { params: { query: { flagged: 'true' as const, page } } }
  const { data, error, refetch } = useQuery(read(useApi(), '/admin/agents', asked))
  const { mutate, isPending, error: refused } = useFlag()
  return (
    <Section title="Flagged now">
      {error && <ErrorNote error={error} onRetry={() => refetch()} />}
      {refused && <ErrorNote error={refused} />}
      {!data && !error && <Skeleton lines={4} />}
      {data?.agents.length === 0 && <Empty title="No agent is flagged" />}
      {data && data.agents.length > 0 && (
        <ul className="list">
          {data.agents.map(({ agent_id, owner_address, flagged_at, review_count, sales_count }) => (
            <li key={agent_id} className="row row-apart">
              <span className="row">
                <AgentLink id={agent_id} isFirst />
                <Hash value={owner_address} />
                <span className="soft small">
                  {plural(review_count, 'review')}, {plural(sales_count, 'sale')}
                  {flagged_at && (
                    <>
                      , flagged <Moment at={flagged_at} />
                    </>
                  )}
                </span>
              </span>
              <Button
                isBusy={isPending}
                aria-label={`Take it back: the flag of agent ${agent_id}`}
                onClick={() => mutate({ id: agent_id, isFlagged: false })}
              >
                Take it back
              </Button>
            </li>
          ))}
        </ul>
      )}
      {data && (
        <Pager
          page={page}
          hasMore={data.has_more}
          before="Lower ids"
          after="Higher ids"
          to={(to) => ({ to: '/operator/agents', search: { page: to } })}
        />
      )}
    </Section>
  )
}
