// Purchases that a chat was offered and has not confirmed yet. A confirmed draft becomes the intent with the same id, once.
import type { Queryable, Sql, Transaction } from '@referrer/database'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import type { Chat } from '../messenger/store.ts'
import { newIntentId } from './ids.ts'

export interface NewDraft {
  chainId: number
  refLink: string
  title: string
  price: bigint
}

export type DraftRow = {
  draft_id: string
  chain_id: bigint
  ref_link: string
  title: string
  price: bigint
  agent_id: bigint | null
}

const columns = (sql: Queryable) => sql`draft_id, chain_id, ref_link, title, price, agent_id`

const isOf = (sql: Queryable, { channel, chat }: Chat, draftId: string, now: Date) => sql`
  draft_id = ${draftId} AND channel = ${channel} AND chat = ${chat} AND expires_at > ${now}`

/** Stores what a chat is offered, in place of what it was offered before. */
export async function replaceDrafts(
  sql: Sql,
  { channel, chat }: Chat,
  drafts: readonly NewDraft[],
  expiresAt: Date,
): Promise<DraftRow[]> {
  const rows = drafts.map(({ chainId, refLink, title, price }) => ({
    draft_id: newIntentId(),
    channel,
    chat,
    chain_id: chainId,
    ref_link: refLink,
    title,
    price,
    agent_id: null,
    expires_at: expiresAt,
  }))
  await sql.begin(async (tx) => {
    await tx`DELETE FROM market.purchase_drafts WHERE channel = ${channel} AND chat = ${chat}`
    if (rows.length > 0) await tx`INSERT INTO market.purchase_drafts ${tx(rows)}`
  })
  return rows.map((row) => ({ ...row, chain_id: BigInt(row.chain_id) }))
}

export async function readDraft(
  sql: Queryable,
  chat: Chat,
  draftId: string,
  now: Date,
): Promise<DraftRow | undefined> {
  const [row] = await sql<DraftRow[]>`
    SELECT ${columns(sql)} FROM market.purchase_drafts WHERE ${isOf(sql, chat, draftId, now)}`
  return row
}

export async function chooseAgent(
  sql: Queryable,
  chat: Chat,
  draftId: string,
  { agentId, now }: { agentId: bigint; now: Date },
): Promise<DraftRow | undefined> {
  const [row] = await sql<DraftRow[]>`
    UPDATE market.purchase_drafts SET agent_id = ${agentId} WHERE ${isOf(sql, chat, draftId, now)}
    RETURNING ${columns(sql)}`
  return row
}

/** Deletes a draft; of concurrent calls one gets true. */
export async function takeDraft(
  tx: Transaction | Sql,
  chat: Chat,
  draftId: string,
  now: Date,
): Promise<boolean> {
  const { count } = await tx`DELETE FROM market.purchase_drafts WHERE ${isOf(tx, chat, draftId, now)}`
  return count === 1
}

export const sweepDrafts: Schedule = {
  name: 'sweep-purchase-drafts',
  everySeconds: 600,
  async run({ sql }) {
    await sql`DELETE FROM market.purchase_drafts WHERE expires_at < now()`
  },
}
