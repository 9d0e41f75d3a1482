import { createHash } from 'node:crypto'
import type { Queryable, Transaction } from '@referrer/database'
import type { Schedule } from '../../machinery/workers/schedule.ts'

// Codes are looked up by their hash, so that a leaked database reveals no code that names a wallet.
const hashOf = (code: string) => createHash('sha256').update(code).digest()

/** A chat in one of the messengers. */
export interface Chat {
  channel: string
  chat: string
}

/** Marks a nonce as used, for all replicas; returns false when it was used before. To be called before anything else is done. */
export async function burnNonce(
  sql: Queryable,
  { chainId, nonce, expiry }: { chainId: number; nonce: Buffer; expiry: Date },
): Promise<boolean> {
  const { count } = await sql`
    INSERT INTO market.burned_nonces (chain_id, nonce, expiry) VALUES (${chainId}, ${nonce}, ${expiry})
    ON CONFLICT DO NOTHING`
  return count === 1
}

export interface NewCode {
  code: string
  at: Date
  expiresAt: Date
}

/** A wallet, and whether purchases can be asked for in its chat. */
export interface Linked {
  owner: Buffer
  mayBuy: boolean
}

/** Stores a code that is redeemed in a chat; other codes of the same owner stay valid. */
export async function insertOwnersCode(
  sql: Queryable,
  { owner, mayBuy }: Linked,
  { code, at, expiresAt }: NewCode,
): Promise<void> {
  await sql`
    INSERT INTO market.link_codes (code_hash, direction, owner, may_buy, minted_at, expires_at)
    VALUES (${hashOf(code)}, 'chat', ${owner}, ${mayBuy}, ${at}, ${expiresAt})`
}

/** Stores a code that is redeemed on the web, unless the chat has one that is still valid; returns the one that is. */
export async function insertChatsCode(
  sql: Queryable,
  { channel, chat }: Chat,
  { code, at, expiresAt }: NewCode,
): Promise<{ code: string; expires_at: Date }> {
  const [row] = await sql<{ code: string; expires_at: Date }[]>`
    INSERT INTO market.link_codes AS old (code_hash, direction, channel, chat, code, minted_at, expires_at)
    VALUES (${hashOf(code)}, 'web', ${channel}, ${chat}, ${code}, ${at}, ${expiresAt})
    ON CONFLICT (channel, chat) WHERE direction = 'web' DO UPDATE SET
      code_hash  = CASE WHEN old.expires_at > ${at} THEN old.code_hash  ELSE excluded.code_hash  END,
      code       = CASE WHEN old.expires_at > ${at} THEN old.code       ELSE excluded.code       END,
      minted_at  = CASE WHEN old.expires_at > ${at} THEN old.minted_at  ELSE excluded.minted_at  END,
      expires_at = CASE WHEN old.expires_at > ${at} THEN old.expires_at ELSE excluded.expires_at END
    RETURNING code, expires_at`
  if (!row) throw new Error('the code of a chat was not stored')
  return row
}

/** Deletes a code that a chat made, if it is valid; of concurrent calls one gets the chat. */
export async function takeChatsCode(tx: Transaction, code: string, now: Date): Promise<Chat | undefined> {
  const [row] = await tx<Chat[]>`
    DELETE FROM market.link_codes
    WHERE code_hash = ${hashOf(code)} AND direction = 'web' AND expires_at > ${now} RETURNING channel, chat`
  return row
}

/** Deletes a code that names a wallet, if it is valid; of concurrent calls one gets the wallet. */
export async function takeOwnersCode(tx: Transaction, code: string, now: Date): Promise<Linked | undefined> {
  const [row] = await tx<Linked[]>`
    DELETE FROM market.link_codes
    WHERE code_hash = ${hashOf(code)} AND direction = 'chat' AND expires_at > ${now}
    RETURNING owner, may_buy AS "mayBuy"`
  return row
}

/**
 * Links a wallet to a chat; a wallet that has a link already is re-pointed. What its owner has allowed this chat before stays allowed.
 * Returns the former chat, if it is another one.
 */
export async function saveLink(
  tx: Transaction,
  { owner, mayBuy }: Linked,
  { channel, chat }: Chat,
  at: Date,
): Promise<Chat | undefined> {
  const [former] = await tx<Chat[]>`
    SELECT channel, chat FROM market.chat_links WHERE owner = ${owner} AND (channel, chat) <> (${channel}, ${chat})
    FOR UPDATE`
  await tx`
    INSERT INTO market.chat_links AS old (owner, channel, chat, may_buy, linked_at)
    VALUES (${owner}, ${channel}, ${chat}, ${mayBuy}, ${at})
    ON CONFLICT (owner) DO UPDATE
      SET channel = excluded.channel, chat = excluded.chat, linked_at = excluded.linked_at, blocked_at = NULL,
        may_buy = excluded.may_buy OR (old.may_buy AND (old.channel, old.chat) = (excluded.channel, excluded.chat))`
  return former
}

export type LinkRow = Chat & { linked_at: Date }

export async function readLink(sql: Queryable, owner: Buffer): Promise<LinkRow | undefined> {
  const [row] = await sql<LinkRow[]>`
    SELECT channel, chat, linked_at FROM market.chat_links WHERE owner = ${owner}`
  return row
}

/** Whether a wallet is linked to a chat that may ask for purchases; it stays so until the transaction ends. */
export async function holdBuyingLink(
  tx: Transaction,
  owner: Buffer,
  { channel, chat }: Chat,
): Promise<boolean> {
  const { count } = await tx`
    SELECT FROM market.chat_links WHERE owner = ${owner} AND channel = ${channel} AND chat = ${chat} AND may_buy FOR SHARE`
  return count === 1
}

/** The wallets of a chat, in the order in which they were linked. */
export async function ownersOfChat(
  sql: Queryable,
  { channel, chat }: Chat,
  limit: number,
): Promise<Linked[]> {
  return sql<Linked[]>`
    SELECT owner, may_buy AS "mayBuy" FROM market.chat_links WHERE channel = ${channel} AND chat = ${chat}
    ORDER BY linked_at, owner LIMIT ${limit}`
}

/** Deletes the link of a wallet, or only the one to the given chat; returns the chat that it was to. */
export async function deleteLink(sql: Queryable, owner: Buffer, from?: Chat): Promise<Chat | undefined> {
  const [row] = await sql<Chat[]>`
    DELETE FROM market.chat_links
    WHERE owner = ${owner} ${from ? sql`AND channel = ${from.channel} AND chat = ${from.chat}` : sql``}
    RETURNING channel, chat`
  return row
}

/** Remembers that the messenger refuses messages to a chat. */
export async function markBlocked(sql: Queryable, { channel, chat }: Chat, at: Date): Promise<void> {
  await sql`
    UPDATE market.chat_links SET blocked_at = ${at}
    WHERE channel = ${channel} AND chat = ${chat} AND blocked_at IS NULL`
}

/** Forgets that a chat was blocked, because its user has written again. */
export async function clearBlocked(sql: Queryable, { channel, chat }: Chat): Promise<void> {
  await sql`
    UPDATE market.chat_links SET blocked_at = NULL
    WHERE channel = ${channel} AND chat = ${chat} AND blocked_at IS NOT NULL`
}

/** Deletes expired codes and nonces. Nonces are kept for one more hour, because the clocks of replicas differ. */
export const sweepLinks: Schedule = {
  name: 'sweep-messenger-links',
  everySeconds: 600,
  async run({ sql }) {
    await sql`DELETE FROM market.link_codes WHERE expires_at < now()`
    await sql`DELETE FROM market.burned_nonces WHERE expiry < now() - INTERVAL '1 hour'`
  },
}
