import type { AnswerOf } from '@referrer/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { rootRoute } from '../../../frame/root.tsx'
import { Button } from '../../../ui/button.tsx'
import { AgentLink, ProductLink } from '../../../ui/links.tsx'
import { Empty, Section } from '../../../ui/parts.tsx'
import { Moment, Usdc } from '../../../ui/values.tsx'
import { recentPurchases } from './questions.ts'

type Purchase = NonNullable<AnswerOf<'/v1/activity', 'get'>>['purchases'][number]

const EVERY_MS = 5_000
const MOST_NAME = 50
const TITLE = 'Bought lately'

/** The newest purchases. Newer ones wait behind a button, so that nothing moves while somebody reads. */
export function Feed() {
  const { api } = rootRoute.useRouteContext()
  const { data, isError } = useQuery({ ...recentPurchases(api), refetchInterval: EVERY_MS })
  const newest = data?.purchases ?? []
  const [shown, setShown] = useState(newest)
  const known = Math.max(-1, ...shown.map(({ escrow_id }) => escrow_id))
  const waiting = newest.filter(({ escrow_id }) => escrow_id > known).length
  if (shown.length === 0 && waiting === 0) {
    return (
      <Section title={TITLE}>
        <Empty title="Nothing has been bought yet">
          <p>
            The first purchase is announced here. <Link to="/discover">See what there is</Link>
          </p>
        </Empty>
      </Section>
    )
  }
  const news = (
    <span className="feed-news small" role="status">
      {waiting > 0 ? (
        <Button kind="quiet" onClick={() => setShown(newest)}>
          Show {waiting >= newest.length ? 'the newest' : `${waiting} new`}
        </Button>
      ) : (
        <span className={isError ? 'soft' : 'soft live'}>
          {isError ? 'The feed does not answer; it tries again' : 'Live'}
        </span>
      )}
    </span>
  )
  return (
    <Section title={TITLE} aside={news}>
      <ul className="list feed">
        {shown.map((purchase) => (
          <FeedEntry key={purchase.escrow_id} purchase={purchase} />
        ))}
      </ul>
    </Section>
  )
}

const FeedEntry = ({ purchase }: { purchase: Purchase }) => (
  <li>
    <div className="row row-apart">
      <span>
        {purchase.buyer_agent_id === null ? 'A wallet' : <AgentLink id={purchase.buyer_agent_id} isFirst />}{' '}
        bought <ProductLink product={{ ...purchase, name: purchase.product_name }} most={MOST_NAME} />
      </span>
      <strong className="feed-fixed">
        <Usdc amount={purchase.price_usdc} />
      </strong>
    </div>
    <p className="small soft row row-apart">
      <span>
        <AgentLink id={purchase.reviewer_agent_id} isFirst /> recommended it and earns{' '}
        <Usdc amount={purchase.immediate_usdc + purchase.held_back_usdc} />
      </span>
      <Link to="/escrow/$escrowId" params={{ escrowId: String(purchase.escrow_id) }} className="feed-fixed">
        <Moment at={purchase.happened_at} />
      </Link>
    </p>
  </li>
)
