// Which shops are verified: the ground on which the standings of owners rest.
import type { AnswerOf } from '@referrer/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { Choices } from '../../../ui/choices.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { Badge, Empty, Facts, Pager } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Foreign, Hash, Moment, Usdc } from '../../../ui/values.tsx'
import { OperatorPage } from '../parts/frame.tsx'
import { numberIn } from '../parts/ids.ts'
import { NoteForm } from '../parts/note-form.tsx'
import { Standing } from '../parts/standing.tsx'

const shopsRoute = getRouteApi('/operator/shops')

type Shop = AnswerOf<'/admin/shops', 'get'>['shops'][number]

const STATES = { all: 'All', verified: 'Verified', unverified: 'Not verified' } as const
const LIMIT = 20
const MOST_NOTE = 500

export const ShopsPage = () => (
  <OperatorPage
    title="Shops"
    lead="Votes and reviews count by how far the money behind them goes to shops that you have verified. While none is verified, everything counts in full."
  >
    <Shops />
  </OperatorPage>
)

function Shops() {
  const { state, page = 1, shop } = shopsRoute.useSearch()
  const query = { state, page, limit: LIMIT, ...(shop !== undefined && { merchant_id: shop }) }
  const { data, error, refetch } = useQuery(read(useApi(), '/admin/shops', { params: { query } }))
  return (
    <>
      <Choices label="Which shops">
        {(Object.keys(STATES) as (keyof typeof STATES)[]).map((each) => (
          <Link
            key={each}
            to="/operator/shops"
            search={{ state: each }}
            aria-current={each === state && shop === undefined ? 'page' : undefined}
          >
            {STATES[each]}
          </Link>
        ))}
      </Choices>
      <Finder key={shop ?? ''} shop={shop} />
      {error && <ErrorNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Skeleton lines={10} />}
      {data?.shops.length === 0 && (
        <Empty title={shop === undefined ? 'No such shop is open' : `No shop ${shop} is open`} />
      )}
      <ol className="cases">
        {data?.shops.map((each) => (
          <li key={each.merchant_id}>
            <ShopCase shop={each} />
          </li>
        ))}
      </ol>
      {data && (
        <Pager
          page={page}
          hasMore={data.shops.length === LIMIT}
          before="Lower ids"
          after="Higher ids"
          to={(to) => ({ to: '/operator/shops', search: { state, page: to } })}
        />
      )}
    </>
  )
}

function Finder({ shop }: { shop: number | undefined }) {
  const navigate = useNavigate()
  const [text, setText] = useState(shop === undefined ? '' : String(shop))
  return (
    <form
      className="finder"
      aria-label="Find a shop"
      onSubmit={(event) => {
        event.preventDefault()
        const found = numberIn(text.trim())
        void navigate({
          to: '/operator/shops',
          search: { state: 'all', ...(found !== undefined && { shop: found }) },
        })
      }}
    >
      <Field label="Number of a shop">
        <FieldControl
          name="shop"
          inputMode="numeric"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <Button type="submit">Find</Button>
    </form>
  )
}

function ShopCase({ shop }: { shop: Shop }) {
  const { merchant_id, owner, purchases, revenue_usdc, is_verified, note, decided_at, decided_by, standing } =
    shop
  const title = `shop-${merchant_id}`
  return (
    <section className="card case" aria-labelledby={title}>
      <div className="row row-apart">
        <h2 id={title} className="case-title">
          <Link to="/merchant/$merchantId" params={{ merchantId: String(merchant_id) }}>
            Shop {merchant_id}
          </Link>
        </h2>
        <Badge tone={is_verified ? 'good' : 'plain'}>{is_verified ? 'verified' : 'not verified'}</Badge>
      </div>
      <Facts
        facts={[
          ['Owner', <Hash key="owner" value={owner} />],
          ['Sales', purchases.toLocaleString('en')],
          ['Buyers paid', <Usdc key="revenue" amount={revenue_usdc} />],
          ['Standing', <Standing key="standing" of={standing} />],
        ]}
      />
      {note !== null && decided_at && decided_by && (
        <div className="stack-small decided">
          <blockquote>
            <Foreign text={note} most={MOST_NOTE} />
          </blockquote>
          <p className="soft small">
            <Moment at={decided_at} /> by <Hash value={decided_by} />
          </p>
        </div>
      )}
      <Decision key={String(is_verified)} merchantId={merchant_id} isVerified={is_verified} />
    </section>
  )
}

function Decision({ merchantId, isVerified }: { merchantId: number; isVerified: boolean }) {
  const api = useApi()
  const queries = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: (note: string) =>
      api.post(isVerified ? '/admin/shops/{merchant_id}/withdraw' : '/admin/shops/{merchant_id}/verify', {
        params: { path: { merchant_id: merchantId } },
        body: { note },
      }),
    onSuccess: async ({ is_verified }) => {
      announce(`Shop ${merchantId} is ${is_verified ? 'verified' : 'not verified any more'}`)
      await queries.invalidateQueries({ queryKey: ['/admin/shops'] })
    },
  })
  return (
    <div className="case-end">
      <NoteForm
        action={isVerified ? 'Withdraw' : 'Verify'}
        what={`shop ${merchantId}`}
        help={
          isVerified
            ? 'Everybody can read it. What was bought here stops counting in full.'
            : 'Everybody can read it. Verify who is real and known to you, sells real goods, and is no partner of reviewers.'
        }
        most={MOST_NOTE}
        isBad={isVerified}
        isBusy={isPending}
        error={error}
        onDecide={mutate}
      />
    </div>
  )
}
