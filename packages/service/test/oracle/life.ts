// Random actions of people and machines over seventy days.
import { int, pick } from '@referrer/chain/testing'
import { ContentHash } from '@referrer/protocol'
import { call, termsOf } from '../calls.ts'
import type { Call } from '../forking-chain.ts'
import { type Answer, sessionOf } from '../http/caller.ts'
import { DAY, send, travel } from '../http/chain.ts'
import { vote } from '../http/commitments.ts'
import { generic, type TestMarket } from '../http/market.ts'
import { register } from '../http/reviews.ts'
import { FULL_PRICE, type Person, type Review } from '../http/town.ts'
import { rowsOf } from '../tables.ts'
import type { Escrow } from '../world.ts'
import { buyTogether } from './world.ts'

export interface Life {
  m: TestMarket
  random: () => number
  /** Published before the first purchase. */
  reviews: Review[]
  authors: Person[]
  buyers: Person[]
  /** Buys without an agent, and may name its agent later. */
  wallet: Person
}

export type Act = (life: Life) => Promise<void>

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
const PRICES = [FULL_PRICE, FULL_PRICE, FULL_PRICE / 2n, 10_000n]

/** The escrows on the chain now. */
async function escrowsOf({ m }: Life): Promise<Escrow[]> {
  await m.indexed()
  return (await rowsOf(m.sql, 'chain.escrows', m.chainId)) as Partial<Escrow>[] as Escrow[]
}

interface Bought {
  buyer: Person
  escrow: Escrow
}

/** A random purchase by an agent. */
async function anyBought(life: Life): Promise<Bought | undefined> {
  const bought = (await escrowsOf(life)).flatMap((escrow) => {
    const buyer = [...life.buyers, life.wallet].find(({ agentId }) => agentId === escrow.buyer_agent_id)
    return buyer ? [{ buyer, escrow }] : []
  })
  return bought.length ? pick(life.random, bought) : undefined
}

/** A call that may be refused, because it is late or was done before. */
const attempt = ({ m }: Life, made: Call): Promise<boolean> =>
  send(m, made).then(
    () => true,
    () => false,
  )

/** An answer may be a refusal but not a failure; it is tried three times, because connections are cut in this test. */
async function asked(ask: () => Promise<Answer>): Promise<void> {
  let trouble: unknown
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      const { status, text } = await ask()
      if (status < 500 && status !== 401) return
      trouble = new Error(`${status} ${text}`)
    } catch (error) {
      trouble = error
    }
  }
  throw trouble
}

export const buying: Act = async (life) => {
  const { m, random, reviews, buyers, wallet } = life
  const shoppers = [pick(random, buyers), random() < 0.3 ? { owner: wallet.owner } : pick(random, buyers)]
  await buyTogether(m, pick(random, reviews), shoppers, pick(random, PRICES))
}

export const binding: Act = async (life) => {
  const { m, wallet } = life
  const open = (await escrowsOf(life)).filter(
    ({ payer, buyer_agent_id, settled_at }) =>
      same(payer, wallet.owner.address) && buyer_agent_id === null && settled_at === null,
  )
  if (open.length === 0) return
  const terms = termsOf(pick(life.random, open))
  await attempt(life, call(m, wallet.owner, 'CommissionEscrow', 'bind', [terms, wallet.agentId]))
}

export const voting: Act = async (life) => {
  const bought = await anyBought(life)
  if (bought) await castVote(life, bought)
}

async function castVote({ m, random, reviews }: Life, { buyer, escrow }: Bought): Promise<void> {
  const others = reviews.filter(
    ({ product, reviewId }) => product.productId === escrow.product_id && reviewId !== escrow.review_id,
  )
  const { owner, agentId } = buyer
  const ballot = { agentId, escrowId: escrow.escrow_id, votes: [pick(random, others).internalId] }
  await asked(() => vote(m, owner, ballot))
}

/** Publishes on the chain, and registers the text if the buyer has voted. */
export const telling: Act = async (life) => {
  const { m, random } = life
  const bought = await anyBought(life)
  if (!bought) return
  if (random() < 0.6) await castVote(life, bought)
  const { buyer, escrow } = bought
  const content = generic(int(random, 1, 5), 'As it was')
  const about = { agentId: buyer.agentId, merchantId: escrow.merchant_id, productId: escrow.product_id }
  const hash = ContentHash.contentHash({ ...about, content })
  const args = [m.market.addresses.CommissionEscrow, termsOf(escrow), hash]
  if (!(await attempt(life, call(m, buyer.owner, 'ReviewRegistry', 'publishWithEscrow', args)))) return
  await m.indexed()
  const [row] = await m.sql<{ review_id: bigint }[]>`
    SELECT review_id FROM chain.reviews WHERE proof_id = ${escrow.escrow_id} ORDER BY review_id DESC LIMIT 1`
  const ids = { review_id: Number(row?.review_id), escrow_id: Number(escrow.escrow_id) }
  await asked(() => register(m, { ...ids, content_json: content }))
}

/** Registers the texts of buyers who had not voted before. */
export const tellingAgain: Act = async ({ m, random }) => {
  const rows = await m.sql<{ review_id: bigint; proof_id: bigint }[]>`
    SELECT c.review_id, c.proof_id FROM chain.reviews AS c JOIN market.reviews AS r USING (internal_id)
    WHERE r.content IS NULL ORDER BY c.review_id`
  if (rows.length === 0) return
  const { review_id, proof_id } = pick(random, rows)
  for (const rating of [1, 2, 3, 4, 5]) {
    const ids = { review_id: Number(review_id), escrow_id: Number(proof_id) }
    await asked(() => register(m, { ...ids, content_json: generic(rating, 'As it was') }))
  }
}

/** The present owner disputes a contradiction, and an admin decides. */
export const disputing: Act = async ({ m, random, reviews, authors }) => {
  const { author, reviewId, internalId } = pick(random, reviews)
  const [row] = await m.sql<{ owner: string }[]>`
    SELECT '0x' || encode(owner, 'hex') AS owner FROM chain.identities WHERE agent_id = ${author.agentId}`
  const as = authors.find(({ owner }) => same(owner.address, row?.owner ?? ''))?.owner
  if (!as) return
  const reason = 'They did not read the manual'
  await asked(() => m.call('POST', `/v1/review/${reviewId}/dispute`, { as, body: { reason } }))
  if (random() < 0.4) return
  const body = { note: 'Heard both', upheld: random() < 0.5 }
  await asked(async () => {
    const token = await sessionOf(m.call, m.market.accounts.admin)
    return m.call('POST', `/admin/disputes/${internalId}/resolve`, { token, body })
  })
}

export const flagging: Act = async ({ m, random, authors, buyers }) => {
  const { agentId } = pick(random, [...authors, ...buyers])
  const act = random() < 0.6 ? 'flag' : 'unflag'
  await asked(async () => {
    const token = await sessionOf(m.call, m.market.accounts.admin)
    return m.call('POST', `/admin/agents/${agentId}/${act}`, { token })
  })
}

/** Authors sell their agents to each other. */
export const transferring: Act = async (life) => {
  const { m, random, authors } = life
  const { agentId } = pick(random, authors)
  const to = pick(random, authors).owner.address
  for (const { owner } of authors) {
    const args = [owner.address, to, agentId]
    if (await attempt(life, call(m, owner, 'IdentityRegistry', 'transferFrom', args))) break
  }
  await m.indexed()
}

export const waiting: Act = async ({ m, random }) => {
  const seconds = int(random, 5 * DAY, 18 * DAY)
  await travel(m, seconds)
  m.clock.aheadMs += seconds * 1_000
}

/** Anybody may use the fallback ten days after the window. */
export const meddling: Act = async (life) => {
  const open = (await escrowsOf(life)).filter(({ settled_at }) => settled_at === null)
  const { stranger } = life.m.market.accounts
  for (const escrow of open.slice(0, 3))
    await attempt(life, call(life.m, stranger, 'CommissionEscrow', 'settleFallback', [termsOf(escrow)]))
}

/** Does these actions, then resets the chain to the block before them. */
export const undoing =
  (acts: readonly Act[]): Act =>
  async (life) => {
    const { client } = life.m.market
    const id = await client.snapshot()
    for (let count = int(life.random, 1, 3); count > 0; count -= 1) await pick(life.random, acts)(life)
    await life.m.indexed()
    await client.revert({ id })
    await client.mine({ blocks: 1 })
    await life.m.indexed()
  }
