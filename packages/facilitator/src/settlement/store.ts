import type { Queryable, Transaction } from '@referrer/database'
import { type Address, bytesToHex, type Hash, type Hex } from 'viem'
import { keyText, type PaymentKey } from '../payment/payment.ts'
import { type Backed, dayOf } from './allowance.ts'
import type { Order } from './order.ts'
import type { Outcome } from './states.ts'

/** A row of `facilitator.settlements`. */
export interface Row {
  key: PaymentKey
  kind: Order['kind']
  digest: Hash
  /** Null: it was never sent, or somebody else's transaction settled it. */
  intentId: bigint | null
  state: 'open' | 'pending' | 'settled'
  /** No reorganisation changes it. */
  isFinal: boolean
  transaction: Hash | null
  message: string | null
  /** Unix seconds; null: of a transfer, which has no end. */
  validBefore: bigint | null
  /** A transaction with its signature was sent. */
  wasSent: boolean
}

/** What became of one order. */
export interface Ending {
  key: PaymentKey
  state: Outcome
  transaction: Hash | null
  message: string | null
  /** The platform's fee, and what the gas that it used costs, in base units. */
  fee: bigint
  used: bigint
}

const bytes = (hex: Hex) => Buffer.from(hex.slice(2), 'hex')

/** Later than any clock: what is longer does not fit the column. */
const LATEST = 2n ** 62n

/**
 * Writes a row for each order that nothing is sent of yet, unless its payment has one. Returns the rows of their payments. A nonce that
 * commits to the order is its payer's word, and counts for more than who was first.
 */
export async function pin(sql: Queryable, orders: readonly Order[], now: number): Promise<Row[]> {
  const first = new Map<string, Order>()
  for (const order of orders) {
    const name = keyText(order.key)
    if (!first.has(name) || isCommitted(order)) first.set(name, order)
  }
  // In the order in which others lock them.
  const pinned = [...first].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, order]) => order)
  const rows = await sql<SettlementRow[]>`
    INSERT INTO facilitator.settlements AS s
      (chain_id, payer, nonce, kind, digest, merchant_id, product_id, review_id, value, valid_before, state, is_final, day)
    SELECT *, 'open', true, ${dayOf(now)}::integer FROM unnest(${purchases(sql, pinned)})
    ON CONFLICT (chain_id, payer, nonce) DO UPDATE
    SET digest = CASE WHEN s.nonce = ANY(${committedNonces(pinned)}::bytea[]) AND s.state = 'open' AND NOT s.was_sent
      THEN EXCLUDED.digest ELSE s.digest END
    RETURNING ${columns(sql)}`
  const found = new Map(rows.map(rowOf).map((row) => [keyText(row.key), row]))
  return orders.map(({ key }) => {
    const row = found.get(keyText(key))
    if (!row) throw new Error('a pin was neither written nor found')
    return row
  })
}

const isCommitted = ({ payment }: Order) => payment?.isCommitted === true

/** One purchase fits such a nonce: a pin that somebody else has made of it without the salt is none. */
const committedNonces = (orders: readonly Order[]) =>
  orders.filter(isCommitted).map(({ key }) => bytes(key.nonce))

/** Arrays of the columns from `chain_id` to `valid_before`. */
const purchases = (sql: Queryable, orders: readonly Order[]) => sql`
  ${orders.map(({ key }) => key.chainId)}::bigint[], ${orders.map(({ key }) => bytes(key.payer))}::bytea[],
  ${orders.map(({ key }) => bytes(key.nonce))}::bytea[], ${orders.map(({ kind }) => kind)}::text[],
  ${orders.map(({ digest }) => bytes(digest))}::bytea[],
  ${orders.map(({ attribution }) => attribution.merchantId)}::bigint[],
  ${orders.map(({ attribution }) => bytes(attribution.productId))}::bytea[],
  ${orders.map(({ attribution }) => attribution.reviewId)}::bigint[],
  ${orders.map(({ value }) => value)}::bigint[], ${orders.map(endOf)}::bigint[]`

/**
 * Deletes pins of which nothing came: the router finishes nothing that ended before `ended`, in Unix seconds. The deployment of a wallet
 * counts until its day is over.
 */
export async function unpin(sql: Queryable, chainId: number, ended: number): Promise<void> {
  await sql`
    DELETE FROM facilitator.settlements
    WHERE chain_id = ${chainId} AND state = 'open' AND NOT was_sent AND valid_before < ${ended}
      AND (risk + burned = 0 OR day < ${dayOf(ended * 1_000)})`
}

/**
 * Writes a row for each order of an intent, and returns the payments that were written: a payment with a row is left as it is, unless
 * nothing of it is under way and the row is of the same request. What an earlier try of the day did cost stays counted. (A transfer's payer
 * may choose another link: its signature binds both.)
 */
export async function claim(
  tx: Transaction,
  intentId: bigint,
  backed: (Backed & { requestId?: string | undefined })[],
  now: number,
): Promise<Set<string>> {
  const orders = backed.map(({ order }) => order)
  const rows = await tx<{ chain_id: bigint; payer: Buffer; nonce: Buffer }[]>`
    ${withLost(
      tx,
      tx`(chain_id, payer, nonce) IN (SELECT * FROM unnest(${orders.map(({ key }) => key.chainId)}::bigint[],
          ${orders.map(({ key }) => bytes(key.payer))}::bytea[], ${orders.map(({ key }) => bytes(key.nonce))}::bytea[]))
        AND (kind = 'deposit' OR digest = ANY(${orders.map(({ digest }) => bytes(digest))}::bytea[]))`,
    )}
    INSERT INTO facilitator.settlements AS s
      (chain_id, payer, nonce, kind, digest, merchant_id, product_id, review_id, value, valid_before, cost, gift, gift_of, risk, risk_of,
        request_id, intent_id, day)
    SELECT *, ${intentId}::bigint, ${dayOf(now)}::integer FROM unnest(${purchases(tx, orders)},
      ${backed.map(({ cost }) => cost)}::bigint[], ${backed.map(({ gift }) => gift)}::bigint[],
      ${backed.map(({ giftOf }) => giftOf)}::text[], ${backed.map(({ risk }) => risk)}::bigint[],
      ${backed.map(({ riskOf }) => riskOf)}::text[], ${backed.map(({ requestId }) => requestId ?? null)}::text[])
    ON CONFLICT (chain_id, payer, nonce) DO UPDATE
    SET kind = EXCLUDED.kind, digest = EXCLUDED.digest, merchant_id = EXCLUDED.merchant_id, product_id = EXCLUDED.product_id,
      review_id = EXCLUDED.review_id, value = EXCLUDED.value, intent_id = EXCLUDED.intent_id, state = 'pending',
      transaction = NULL, message = NULL, is_final = false, changed_at = now(), request_id = EXCLUDED.request_id,
      burned = CASE WHEN s.day < EXCLUDED.day THEN 0 WHEN s.risk_of = 'new' THEN s.burned + s.risk ELSE s.burned END, day = EXCLUDED.day, cost = EXCLUDED.cost,
      gift = EXCLUDED.gift, gift_of = EXCLUDED.gift_of, risk = EXCLUDED.risk, risk_of = EXCLUDED.risk_of, surplus = 0
    WHERE s.state = 'open' AND (s.digest = EXCLUDED.digest OR EXCLUDED.kind = 'deposit'
      OR (NOT s.was_sent AND s.nonce = ANY(${committedNonces(orders)}::bytea[])))
    RETURNING chain_id, payer, nonce`
  return new Set(rows.map((row) => keyText(keyOfRow(row))))
}

/** A try has ended, though its block is not final: what it drew on credit is lost now, because what follows overwrites these rows. */
const withLost = (sql: Queryable, rows: ReturnType<typeof isRow>) => sql`
  WITH tried AS (
    SELECT * FROM facilitator.settlements WHERE ${rows} AND state = 'open' AND NOT is_final AND risk_of <> 'new'
  ), lost AS (
    INSERT INTO facilitator.credits AS c (chain_id, kind, id, credit)
    SELECT chain_id, risk_of, CASE risk_of WHEN 'payer' THEN payer ELSE int8send(merchant_id) END AS id, -sum(risk)
    FROM tried GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (chain_id, kind, id) DO UPDATE SET credit = c.credit + EXCLUDED.credit
  )`

/** Writes a row for a purchase that somebody else's transaction made. False: there is a row already. */
export async function adopt(sql: Queryable, order: Order, transaction: Hash, now: number): Promise<boolean> {
  const { key, digest } = order
  await pin(sql, [order], now)
  const row = sql`${isRow(sql, key)} AND digest = ${bytes(digest)}`
  const { count } = await sql`
    ${withLost(sql, row)}
    UPDATE facilitator.settlements
    SET intent_id = NULL, state = 'settled', transaction = ${bytes(transaction)}, message = NULL, is_final = true, changed_at = now()
    WHERE ${row} AND state = 'open'`
  return count === 1
}

/** What the deployment of a payer costs at most, in the row of the payment that it is sent for. */
export async function holdDeployment(
  tx: Transaction,
  key: PaymentKey,
  most: bigint,
  now: number,
): Promise<void> {
  await tx`
    ${withLost(tx, isRow(tx, key))}
    UPDATE facilitator.settlements
    SET burned = CASE WHEN day < ${dayOf(now)} THEN 0 WHEN risk_of = 'new' THEN burned + risk ELSE burned END, risk = ${most},
      risk_of = 'new', day = ${dayOf(now)}
    WHERE ${isRow(tx, key)} AND state = 'open'`
}

/** And what it did cost. Other payments of the same payer hold nothing for it. */
export async function countDeployment(sql: Queryable, key: PaymentKey, cost: bigint): Promise<void> {
  await sql`
    UPDATE facilitator.settlements SET risk = least(risk, ${cost}) WHERE ${isRow(sql, key)} AND state = 'open'`
}

/** A payment whose outcome has become final, and the time since it came first. */
export interface Final {
  status: Outcome
  seconds: number
}

/** Records the outcomes of an intent. Payments that another intent has claimed since are left alone, and so are final ones. */
export async function record(sql: Queryable, intentId: bigint, endings: Ending[]): Promise<void> {
  await sql`
    UPDATE facilitator.settlements s
    SET state = CASE e.state WHEN 'settled' THEN 'settled' ELSE 'open' END, transaction = e.transaction, message = e.message,
      was_sent = true, changed_at = now(), surplus = greatest(0, e.rest - s.burned),
      burned = greatest(0, s.burned - greatest(0, e.rest)),
      gift = CASE e.state WHEN 'settled' THEN least(s.gift, greatest(0, -e.rest)) ELSE 0 END,
      risk = CASE e.state WHEN 'settled' THEN greatest(0, -e.rest - s.gift) ELSE e.used END
    FROM (
      SELECT s.payer, s.nonce, told.state, told.transaction, told.message, told.used,
        CASE told.state WHEN 'settled' THEN told.fee - greatest(s.cost, told.used) ELSE 0 END AS rest
      FROM unnest(
        ${endings.map(({ key }) => bytes(key.payer))}::bytea[], ${endings.map(({ key }) => bytes(key.nonce))}::bytea[],
        ${endings.map(({ state }) => state)}::text[],
        ${endings.map(({ transaction }) => transaction && bytes(transaction))}::bytea[],
        ${endings.map(({ message }) => message)}::text[], ${endings.map(({ fee }) => fee)}::bigint[],
        ${endings.map(({ used }) => used)}::bigint[]
      ) AS told (payer, nonce, state, transaction, message, fee, used)
      JOIN facilitator.settlements s ON s.intent_id = ${intentId} AND s.payer = told.payer AND s.nonce = told.nonce
    ) e
    WHERE s.intent_id = ${intentId} AND s.payer = e.payer AND s.nonce = e.nonce AND NOT s.is_final`
}

/** The block of an intent is too deep to be undone. What its fees have left, and what was drawn on that, is credited now, once. */
export async function markFinal(sql: Queryable, intentId: bigint): Promise<Final[]> {
  return sql<Final[]>`
    WITH ended AS (
      UPDATE facilitator.settlements SET is_final = true, changed_at = now()
      WHERE intent_id = ${intentId} AND state <> 'pending' AND NOT is_final
      RETURNING *
    ), credited AS (
      INSERT INTO facilitator.credits AS c (chain_id, kind, id, credit)
      SELECT chain_id, each.kind, each.id, sum(each.credit) FROM ended CROSS JOIN LATERAL (VALUES
        ('merchant', int8send(merchant_id), surplus / 2 - CASE gift_of WHEN 'merchant' THEN gift ELSE 0 END
          - CASE risk_of WHEN 'merchant' THEN risk ELSE 0 END),
        ('payer', payer, surplus / 2 - CASE risk_of WHEN 'payer' THEN risk ELSE 0 END)
      ) AS each (kind, id, credit)
      GROUP BY chain_id, each.kind, each.id HAVING sum(each.credit) <> 0 ORDER BY chain_id, each.kind, each.id
      ON CONFLICT (chain_id, kind, id) DO UPDATE SET credit = c.credit + EXCLUDED.credit
    )
    SELECT CASE state WHEN 'settled' THEN 'settled' ELSE 'failed' END AS status,
      extract(epoch FROM now() - created_at)::float8 AS seconds
    FROM ended`
}

/** After a reorganisation: the outcomes are open again, and cost at most what they did cost. */
export async function reopen(sql: Queryable, intentId: bigint): Promise<void> {
  await sql`
    UPDATE facilitator.settlements
    SET state = 'pending', transaction = NULL, changed_at = now()
    WHERE intent_id = ${intentId} AND NOT is_final`
}

/** No transaction of the intent is mined, and none will be. `wasSent`: one with its signatures was sent all the same. */
export async function recordUnsent(
  tx: Queryable,
  intentId: bigint,
  message: string,
  wasSent: boolean,
): Promise<void> {
  await tx`
    UPDATE facilitator.settlements
    SET state = 'open', message = ${message}, is_final = true, changed_at = now(), cost = 0, gift = 0, risk = 0, intent_id = NULL,
      was_sent = was_sent OR ${wasSent}
    WHERE intent_id = ${intentId} AND state = 'pending'`
}

type SettlementRow = {
  chain_id: bigint
  payer: Buffer
  nonce: Buffer
  kind: Order['kind']
  digest: Buffer
  intent_id: bigint | null
  state: Row['state']
  is_final: boolean
  transaction: Buffer | null
  message: string | null
  valid_before: bigint | null
  was_sent: boolean
}

const columns = (sql: Queryable) =>
  sql`chain_id, payer, nonce, kind, digest, intent_id, state, is_final, transaction, message, valid_before, was_sent`

const isRow = (sql: Queryable, { chainId, payer, nonce }: PaymentKey) =>
  sql`chain_id = ${chainId} AND payer = ${bytes(payer)} AND nonce = ${bytes(nonce)}`

function endOf({ payment }: Order): bigint | null {
  if (!payment) return null
  const { validBefore } = payment.authorization
  if (validBefore > LATEST) return LATEST
  return validBefore
}

export async function findRow(sql: Queryable, key: PaymentKey): Promise<Row | undefined> {
  const [row] = await sql<SettlementRow[]>`
    SELECT ${columns(sql)} FROM facilitator.settlements WHERE ${isRow(sql, key)}`
  return row && rowOf(row)
}

export async function rowsOfIntent(sql: Queryable, intentId: bigint): Promise<Row[]> {
  const rows = await sql<SettlementRow[]>`
    SELECT ${columns(sql)} FROM facilitator.settlements WHERE intent_id = ${intentId}`
  return rows.map(rowOf)
}

/** The transactions whose outcome is not final, of this process and all others. */
export async function openIntents(sql: Queryable, chainId: number): Promise<bigint[]> {
  const rows = await sql<{ intent_id: bigint }[]>`
    SELECT DISTINCT intent_id FROM facilitator.settlements WHERE chain_id = ${chainId} AND NOT is_final`
  return rows.map((row) => row.intent_id)
}

function rowOf(row: SettlementRow): Row {
  return {
    key: keyOfRow(row),
    kind: row.kind,
    digest: bytesToHex(row.digest),
    intentId: row.intent_id,
    state: row.state,
    isFinal: row.is_final,
    transaction: row.transaction && bytesToHex(row.transaction),
    message: row.message,
    validBefore: row.valid_before,
    wasSent: row.was_sent,
  }
}

function keyOfRow(row: { chain_id: bigint; payer: Buffer; nonce: Buffer }): PaymentKey {
  return {
    chainId: Number(row.chain_id),
    payer: bytesToHex(row.payer) as Address,
    nonce: bytesToHex(row.nonce),
  }
}
