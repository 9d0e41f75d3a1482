// One suspected ring with its evidence.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { plural } from '../../../format/text.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Badge, Facts, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Foreign, Hash, Moment, Usdc } from '../../../ui/values.tsx'
import { OperatorPage } from '../parts/frame.tsx'
import { NoteForm } from '../parts/note-form.tsx'
import { percent, Standing } from '../parts/standing.tsx'
import type { RingCase } from './case.ts'
import { Drawing } from './drawing.tsx'
import { Members, Places } from './tables.tsx'
import { Votes } from './votes.tsx'

const MOST_NOTE = 2_000

export function RingPage() {
  const ringId = Number(useParams({ from: '/operator/rings/$ringId' }).ringId)
  return (
    <OperatorPage
      title={`Ring ${ringId}`}
      lead="These owners buy and vote mostly among themselves. Nothing follows by itself: flag their agents, or dismiss the suspicion."
    >
      <Case ringId={ringId} />
    </OperatorPage>
  )
}

function Case({ ringId }: { ringId: number }) {
  const asked = { params: { path: { ring_id: ringId } } }
  const { data, error, refetch } = useQuery(read(useApi(), '/admin/rings/{ring_id}', asked))
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={14} />
  return (
    <>
      <Summary ring={data} />
      <Section title="Who voted for whom">
        <Drawing ring={data} />
      </Section>
      <Section title="Members">
        <Members ring={data} />
      </Section>
      <Section title="Shops">
        <Places ring={data} />
      </Section>
      <Section title="Votes">
        <Votes ringId={ringId} />
      </Section>
    </>
  )
}

const Summary = ({ ring }: { ring: RingCase }) => (
  <section className="card stack-small" aria-label={`What is known of ring ${ring.ring_id}`}>
    <p>
      <Badge tone={{ open: 'accent', acted: 'good', dismissed: 'plain' }[ring.state] as 'good'}>
        {{ open: 'open', acted: 'acted on: all agents are flagged', dismissed: 'dismissed' }[ring.state]}
      </Badge>
    </p>
    <Facts
      facts={[
        ['Members', plural(ring.members, 'owner')],
        [
          'Votes inside',
          `${percent(ring.votes_inside, ring.votes_all)}: ${ring.votes_inside.toLocaleString('en')} of ${ring.votes_all.toLocaleString('en')}`,
        ],
        [
          'Money inside',
          <span key="money">
            {percent(ring.spent_inside_usdc, ring.spent_all_usdc)}: <Usdc amount={ring.spent_inside_usdc} />
          </span>,
        ],
        ['Mean standing', <Standing key="standing" of={ring.standing} />],
        ['First vote', <Moment key="first" at={ring.first_vote_at} />],
        ['Last vote', <Moment key="last" at={ring.last_vote_at} />],
        ['Found', <Moment key="found" at={ring.found_at} />],
      ]}
    />
    {ring.note !== null && ring.dismissed_at && ring.dismissed_by && (
      <div className="stack-small">
        <p className="soft small">
          {ring.state === 'dismissed' ? 'Dismissed' : 'It has grown since it was dismissed'}{' '}
          <Moment at={ring.dismissed_at} /> by <Hash value={ring.dismissed_by} />
        </p>
        <blockquote>
          <Foreign text={ring.note} most={MOST_NOTE} />
        </blockquote>
      </div>
    )}
    {ring.state === 'open' && <Dismissal ringId={ring.ring_id} />}
    <p className="small">
      <Link to="/operator/rings" search={{ state: ring.state }}>
        All rings
      </Link>
    </p>
  </section>
)

function Dismissal({ ringId }: { ringId: number }) {
  const api = useApi()
  const queries = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: (note: string) =>
      api.post('/admin/rings/{ring_id}/dismiss', { params: { path: { ring_id: ringId } }, body: { note } }),
    onSuccess: async () => {
      announce(`Ring ${ringId} is dismissed`)
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['/admin/rings'] }),
        queries.invalidateQueries({ queryKey: ['/admin/rings/{ring_id}'] }),
      ])
    },
  })
  return (
    <NoteForm
      action="Dismiss"
      what={`ring ${ringId}`}
      help="For the eyes of operators. The ring comes back only when it has grown by half."
      most={MOST_NOTE}
      isBusy={isPending}
      error={error}
      onDecide={mutate}
    />
  )
}
