import type { AnswerOf } from '@referrer/client'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { formatEth } from '../../../format/eth.ts'
import { plural } from '../../../format/text.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Badge, Empty, Facts, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Foreign, Hash, Moment } from '../../../ui/values.tsx'
import { OperatorPage } from '../parts/frame.tsx'
import { troublesOf } from './troubles.ts'

const EVERY_MS = 10_000

export const OverviewPage = () => (
  <OperatorPage title="Health" lead="What runs, how far it has read, and what our own accounts have left.">
    <Health />
    <DeadLetters />
  </OperatorPage>
)

function Health() {
  const { data, error, refetch } = useQuery({ ...read(useApi(), '/admin/health'), refetchInterval: EVERY_MS })
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={12} />
  return (
    <>
      <Troubles health={data} />
      <Section title="Chains">
        {data.chains.map(({ chain_id, head, indexed, detail }) => (
          <Facts
            key={chain_id}
            facts={[
              ['Chain', chain_id],
              ['Newest block', head === null ? 'not known yet' : String(head)],
              ['Read up to', indexed === null ? 'nothing yet' : String(indexed)],
              ['State', detail],
            ]}
          />
        ))}
      </Section>
      <Section title="Our accounts">
        <Keys keys={data.keys} />
      </Section>
      <Section title="What waits">
        <Facts
          facts={[
            ['Transactions', data.outbox.waiting.toLocaleString('en')],
            [
              'Oldest of them',
              data.outbox.oldest_seconds === null ? 'none' : `${Math.round(data.outbox.oldest_seconds)} s`,
            ],
            ['Texts to embed', data.embeddings_waiting.toLocaleString('en')],
          ]}
        />
      </Section>
      <Section title="Workers" aside={<span className="soft small">of the replica that answered</span>}>
        <ul className="workers">
          {data.workers.map(({ name, state, restarts }) => (
            <li key={name} className="row row-apart">
              <code>{name}</code>
              <span className="row">
                {restarts > 0 && <span className="soft small">{plural(restarts, 'restart')}</span>}
                <Badge tone={state === 'running' ? 'good' : 'bad'}>{state}</Badge>
              </span>
            </li>
          ))}
        </ul>
      </Section>
    </>
  )
}

/** What is wrong comes first, each with what to do. */
function Troubles({ health }: { health: AnswerOf<'/admin/health', 'get'> }) {
  const troubles = troublesOf(health)
  if (troubles.length === 0) {
    return (
      <p className="note note-good" role="status">
        <strong>All is well.</strong> Asked again every ten seconds.
      </p>
    )
  }
  return (
    <div className="note note-bad" role="alert">
      <ul className="troubles">
        {troubles.map(({ what, next }) => (
          <li key={what}>
            <strong>{what}.</strong> {next}
          </li>
        ))}
      </ul>
    </div>
  )
}

const Keys = ({ keys }: { keys: AnswerOf<'/admin/health', 'get'>['keys'] }) =>
  keys.length === 0 ? (
    <Empty title="This process holds no keys">
      <p>It settles and publishes nothing by itself.</p>
    </Empty>
  ) : (
    <div className="table-frame">
      <table className="stacked">
        <thead>
          <tr>
            <th scope="col">Account</th>
            <th scope="col">Chain</th>
            <th scope="col">Address</th>
            <th scope="col" className="amount">
              ETH
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ role, chain_id, address, balance_wei, is_low }) => (
            <tr key={`${role} ${chain_id}`}>
              <td data-label="Account">{role}</td>
              <td data-label="Chain">{chain_id}</td>
              <td data-label="Address">
                <Hash value={address} />
              </td>
              <td className="amount" data-label="ETH">
                {is_low && <Badge tone="bad">low</Badge>}{' '}
                {balance_wei === null ? (
                  'not known'
                ) : (
                  <data className="number" value={balance_wei} title={`${balance_wei} wei`}>
                    {formatEth(BigInt(balance_wei))}
                  </data>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )

function DeadLetters() {
  const { data, error } = useQuery(
    read(useApi(), '/admin/dead-letters', { params: { query: { limit: 20 } } }),
  )
  return (
    <Section title="Messages that were given up">
      {error && <ErrorNote error={error} />}
      {data?.dead_letters.length === 0 && <Empty title="Every message reached its chat" />}
      {data && data.dead_letters.length > 0 && (
        <ul className="list">
          {data.dead_letters.map(({ letter_id, channel, chat, reason, text, buried_at }) => (
            <li key={letter_id}>
              <p>
                {channel} <Foreign text={chat} most={60} /> · <Moment at={buried_at} />
              </p>
              <p className="soft small">
                <Foreign text={reason} most={300} />
              </p>
              <p className="small">
                <Foreign text={text} most={200} />
              </p>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
