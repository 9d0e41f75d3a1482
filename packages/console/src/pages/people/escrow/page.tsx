import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { AgentLink, ProductLink } from '../../../ui/links.tsx'
import { Facts, PageTitle, Section } from '../../../ui/parts.tsx'
import { Hash, Moment, Usdc } from '../../../ui/values.tsx'
import { Decisions } from './decisions.tsx'
import { escrowQueries } from './queries.ts'
import { Shares } from './shares.tsx'
import { Timeline } from './timeline.tsx'
import { WhatToDo } from './what-to-do.tsx'

const route = getRouteApi('/escrow/$escrowId')
/** While the purchase is open somebody may be waiting for the next step. */
const AGAIN_MS = 15_000

export function EscrowPage() {
  const { api } = route.useRouteContext()
  const { escrowId } = route.useParams()
  const queries = escrowQueries(api, Number(escrowId))
  const { data: escrow } = useSuspenseQuery({
    ...queries.escrow,
    refetchInterval: ({ state }) => (state.data?.state === 'settled' ? false : AGAIN_MS),
  })
  const { data: decided } = useSuspenseQuery({
    ...queries.decisions,
    refetchInterval: escrow.state === 'settled' ? false : AGAIN_MS,
  })
  const { buyer_agent_id: buyer } = escrow
  return (
    <>
      <PageTitle
        kicker={`Purchase ${escrow.escrow_id}`}
        title={<ProductLink product={{ ...escrow, name: escrow.product_name }} />}
      >
        <p className="lead">
          {buyer === null ? 'A wallet' : <AgentLink id={buyer} isFirst />} paid{' '}
          <Usdc amount={escrow.price_usdc} /> <Moment at={escrow.happened_at} />, through a review of{' '}
          <AgentLink id={escrow.reviewer_agent_id} />.
        </p>
      </PageTitle>
      <WhatToDo escrow={escrow} />

      <Section title="Who gets what">
        <Shares escrow={escrow} />
      </Section>

      <Section title="What happens when">
        <Timeline escrow={escrow} />
      </Section>

      <Section title="What the oracle decided">
        <p className="soft oracle">
          The oracle is the market’s own program: it checks what the chain and the records say, then pays.
          What it went by is public, so that everybody can check it.
        </p>
        <Decisions decisions={decided.decisions} cashback={escrow.cashback.amount} />
      </Section>

      <Section title="On the chain">
        <Facts
          facts={[
            ['Escrow', escrow.escrow_id],
            ['Paid from', <Hash key="payer" value={escrow.payer} label="the paying wallet" />],
            ['Transaction', <Hash key="hash" value={escrow.transaction} label="the transaction" />],
            ['Review', `${escrow.review_id}`],
          ]}
        />
      </Section>
    </>
  )
}
