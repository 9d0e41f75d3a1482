import type { Queryable, Transaction } from '@referrer/database'
import { type Address, bytesToHex, type Hash, type Hex } from 'viem'
import { keyText, type PaymentKey } from '../payment/payment.ts'
import { dayOf, EMPTIED, GAINED, hourOf } from './accounts.ts'
import type { Order } from './order.ts'
import type { Backed } from './risk.ts'
import type { Outcome } from './states.ts'

/** A row of `facilitator.settlements`. */
export interface Row {
  key: PaymentKey
  kind: Order['kind']
  digest: Hash
  /** Null: somebody else's transaction settled it. */
  intentId: bigint | null
  state: 'pending' | Outcome
  /** Its block is too deep for a reorganisation, or nothing was sent. */
  isFinal: boolean
  transaction: Hash | null
  message: string | null
}

/** What became of one order. */
export interface Ending {
  key: PaymentKey
  state: Outcome
  transaction: Hash | null
  message: string | null
  /** The platform's fee. */
  fee: bigint
}

const bytes = (hex: Hex) => Buffer.from(hex.slice(2), 'hex')

/**
 * Writes a row for each order of an intent, and returns the payments that were written: a payment with a row is left as it is, unless it
 * failed.
 */
export async function claim(
  tx: Transaction,
  intentId: bigint,
  backed: (Backed & { requestId?: string | undefined })[],
  now: number,
): Promise<Set<string>> {
  const orders = backed.map(({ order }) => order)
  const rows = await tx<{ chain_id: bigint; payer: Buffer; nonce: Buffer }[]>`
    INSERT INTO facilitator.settlements
      (chain_id, payer, nonce, kind, digest, merchant_id, product_id, review_id, value, message, cost, fee, code, backer, at_risk,
        request_id, intent_id, day, hour)
    SELECT *, ${intentId}::bigint, ${dayOf(now)}::integer, ${hourOf(now)}::integer FROM unnest(
      ${orders.map(({ key }) => key.chainId)}::bigint[], ${orders.map(({ key }) => bytes(key.payer))}::bytea[],
      ${orders.map(({ key }) => bytes(key.nonce))}::bytea[], ${orders.map(({ kind }) => kind)}::text[],
      ${orders.map(({ digest }) => bytes(digest))}::bytea[],
      ${orders.map(({ attribution }) => attribution.merchantId)}::bigint[],
      ${orders.map(({ attribution }) => bytes(attribution.productId))}::bytea[],
      ${orders.map(({ attribution }) => attribution.reviewId)}::bigint[],
      ${orders.map(({ value }) => value)}::bigint[], ${orders.map(({ message }) => message ?? null)}::text[],
      ${backed.map(({ cost }) => cost)}::bigint[], ${backed.map(({ fee }) => fee)}::bigint[],
      ${backed.map(({ code }) => code && bytes(code)).map((code) => code ?? null)}::bytea[],
      ${backed.map(({ backer }) => backer)}::text[], ${backed.map(({ atRisk }) => atRisk)}::bigint[],
      ${backed.map(({ requestId }) => requestId ?? null)}::text[])
    ON CONFLICT (chain_id, payer, nonce) DO UPDATE
    SET kind = EXCLUDED.kind, digest = EXCLUDED.digest, merchant_id = EXCLUDED.merchant_id, product_id = EXCLUDED.product_id,
      review_id = EXCLUDED.review_id, value = EXCLUDED.value, intent_id = EXCLUDED.intent_id, state = 'pending',
      transaction = NULL, message = EXCLUDED.message, is_final = false, changed_at = now(),
      cost = EXCLUDED.cost, fee = EXCLUDED.fee, code = EXCLUDED.code, backer = EXCLUDED.backer, at_risk = EXCLUDED.at_risk,
      burned = 0, unpaid = 0, earned = 0, day = EXCLUDED.day, hour = EXCLUDED.hour, request_id = EXCLUDED.request_id
    WHERE settlements.state = 'failed'
    RETURNING chain_id, payer, nonce`
  return new Set(rows.map((row) => keyText(keyOfRow(row))))
}

/** Writes a row for a purchase that somebody else's transaction made. False: there is a row already. */
export async function adopt(
  sql: Queryable,
  { key, kind, digest, attribution, value }: Order,
  transaction: Hash,
): Promise<boolean> {
  const { count } = await sql`
    INSERT INTO facilitator.settlements
      (chain_id, payer, nonce, kind, digest, merchant_id, product_id, review_id, value, state, transaction, is_final)
    VALUES (${key.chainId}, ${bytes(key.payer)}, ${bytes(key.nonce)}, ${kind}, ${bytes(digest)}, ${attribution.merchantId},
      ${bytes(attribution.productId)}, ${attribution.reviewId}, ${value}, 'settled', ${bytes(transaction)}, true)
    ON CONFLICT (chain_id, payer, nonce) DO UPDATE
    SET digest = EXCLUDED.digest, merchant_id = EXCLUDED.merchant_id, product_id = EXCLUDED.product_id,
      review_id = EXCLUDED.review_id, intent_id = NULL, state = 'settled', transaction = EXCLUDED.transaction,
      message = NULL, is_final = true, changed_at = now(), cost = 0, fee = 0, burned = 0, unpaid = 0, earned = 0
    WHERE settlements.state = 'failed'`
  return count === 1
}

/** A payment whose outcome has become final, and the time since it came first. */
export interface Final {
  status: Outcome
  seconds: number
}

/**
 * Records the outcomes of an intent, and returns those that are final now. Payments that another intent has claimed since are left alone,
 * and so are final ones.
 */
export async function record(
  sql: Queryable,
  intentId: bigint,
  endings: (Ending & { earned: bigint })[],
  isFinal: boolean,
): Promise<Final[]> {
  const rows = await sql<Final[]>`
    UPDATE facilitator.settlements s
    SET state = e.state, transaction = e.transaction, message = coalesce(e.message, s.message), is_final = ${isFinal}, changed_at = now(),
      fee = e.fee, earned = e.earned - s.burned, at_risk = 0
    FROM unnest(
      ${endings.map(({ key }) => bytes(key.payer))}::bytea[], ${endings.map(({ key }) => bytes(key.nonce))}::bytea[],
      ${endings.map(({ state }) => state)}::text[],
      ${endings.map(({ transaction }) => transaction && bytes(transaction))}::bytea[],
      ${endings.map(({ message }) => message)}::text[], ${endings.map(({ fee }) => fee)}::bigint[],
      ${endings.map(({ earned }) => earned)}::bigint[]
    ) AS e (payer, nonce, state, transaction, message, fee, earned)
    WHERE s.intent_id = ${intentId} AND s.payer = e.payer AND s.nonce = e.nonce AND NOT s.is_final
    RETURNING s.state AS status, extract(epoch FROM now() - s.created_at)::float8 AS seconds`
  return isFinal ? [...rows] : []
}

/** The endings with the reason of each refund: the chain tells that a payment was given back, its row tells why. */
export async function withReasons(sql: Queryable, intentId: bigint, endings: Ending[]): Promise<Ending[]> {
  if (!endings.some(({ state }) => state === 'refunded')) return endings
  const rows = await sql<{ payer: Buffer; nonce: Buffer; message: string | null }[]>`
    SELECT payer, nonce, message FROM facilitator.settlements WHERE intent_id = ${intentId}`
  const reasonOf = ({ payer, nonce }: PaymentKey) =>
    rows.find((row) => row.payer.equals(bytes(payer)) && row.nonce.equals(bytes(nonce)))?.message ?? null
  return endings.map((ending) =>
    ending.state === 'refunded' ? { ...ending, message: reasonOf(ending.key) } : ending,
  )
}

export async function markFinal(sql: Queryable, intentId: bigint): Promise<Final[]> {
  return sql<Final[]>`
    UPDATE facilitator.settlements SET is_final = true, changed_at = now()
    WHERE intent_id = ${intentId} AND state <> 'pending' AND NOT is_final
    RETURNING state AS status, extract(epoch FROM now() - created_at)::float8 AS seconds`
}

/** After a reorganisation: the outcomes are open again. */
export async function reopen(sql: Queryable, intentId: bigint): Promise<void> {
  await sql`
    UPDATE facilitator.settlements
    SET state = 'pending', transaction = NULL, changed_at = now()
    WHERE intent_id = ${intentId} AND NOT is_final`
}

/** The transaction was never sent, and never will be. */
export async function recordUnsent(tx: Queryable, intentId: bigint, message: string): Promise<void> {
  await tx`
    UPDATE facilitator.settlements
    SET state = 'failed', message = ${message}, is_final = true, changed_at = now(), cost = 0, fee = 0, at_risk = 0,
      earned = -burned
    WHERE intent_id = ${intentId} AND state = 'pending'`
}

/** The payer caused the failure; this counts once, however many requests find it. `hasCode`: the payer had code in the block. */
export async function blame(
  sql: Queryable,
  { chainId, payer, nonce }: PaymentKey,
  burned: bigint,
  hasCode: boolean,
  now: number,
): Promise<void> {
  await sql`
    UPDATE facilitator.settlements
    SET burned = ${burned}, earned = earned - ${burned}, hour = ${hourOf(now)},
      unpaid = CASE WHEN backer = 'all' THEN ${burned}::bigint ELSE 0 END, code = coalesce(code, ${bytes(hasCode ? GAINED : EMPTIED)})
    WHERE chain_id = ${chainId} AND payer = ${bytes(payer)} AND nonce = ${bytes(nonce)} AND state = 'failed' AND burned = 0`
}

/**
 * A whole batch reverted, which only accounts that gained code can cause. Which of them did shows when each is sent alone. Counted once:
 * while the rows are pending.
 */
export async function blameGained(
  sql: Queryable,
  chainId: number,
  intentId: bigint,
  burned: bigint,
  now: number,
): Promise<void> {
  await sql`
    INSERT INTO facilitator.accounts AS a (chain_id, kind, id, day, owed, earned, at_risk, hour, burned)
    SELECT ${chainId}, 'code', ${bytes(GAINED)}, ${dayOf(now)}, 0, 0, 0, ${hourOf(now)}, ${burned}
    WHERE EXISTS (SELECT FROM facilitator.settlements WHERE intent_id = ${intentId} AND state = 'pending')
    ON CONFLICT (chain_id, kind, id) DO UPDATE
    SET hour = EXCLUDED.hour, burned = CASE WHEN EXCLUDED.hour > a.hour THEN 0 ELSE a.burned END + EXCLUDED.burned`
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
}

export async function findRow(
  sql: Queryable,
  { chainId, payer, nonce }: PaymentKey,
): Promise<Row | undefined> {
  const [row] = await sql<SettlementRow[]>`
    SELECT chain_id, payer, nonce, kind, digest, intent_id, state, is_final, transaction, message FROM facilitator.settlements
    WHERE chain_id = ${chainId} AND payer = ${bytes(payer)} AND nonce = ${bytes(nonce)}`
  return row && rowOf(row)
}

/** The platform's fee that a payment has brought; 0n unless it is settled. */
export async function feeOf(sql: Queryable, { chainId, payer, nonce }: PaymentKey): Promise<bigint> {
  const [row] = await sql<{ fee: bigint }[]>`
    SELECT fee FROM facilitator.settlements
    WHERE chain_id = ${chainId} AND payer = ${bytes(payer)} AND nonce = ${bytes(nonce)} AND state = 'settled'`
  return row?.fee ?? 0n
}

/** The payments that have a row which has not failed. */
export async function takenOf(sql: Queryable, keys: PaymentKey[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  const rows = await sql<{ chain_id: bigint; payer: Buffer; nonce: Buffer }[]>`
    SELECT chain_id, payer, nonce FROM unnest(${keys.map(({ chainId }) => chainId)}::bigint[],
      ${keys.map(({ payer }) => bytes(payer))}::bytea[], ${keys.map(({ nonce }) => bytes(nonce))}::bytea[])
      AS asked (chain_id, payer, nonce)
    JOIN facilitator.settlements USING (chain_id, payer, nonce)
    WHERE state <> 'failed'`
  return new Set(rows.map((row) => keyText(keyOfRow(row))))
}

export async function rowsOfIntent(sql: Queryable, intentId: bigint): Promise<Row[]> {
  const rows = await sql<SettlementRow[]>`
    SELECT chain_id, payer, nonce, kind, digest, intent_id, state, is_final, transaction, message FROM facilitator.settlements
    WHERE intent_id = ${intentId}`
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
  }
}

function keyOfRow(row: { chain_id: bigint; payer: Buffer; nonce: Buffer }): PaymentKey {
  return {
    chainId: Number(row.chain_id),
    payer: bytesToHex(row.payer) as Address,
    nonce: bytesToHex(row.nonce),
  }
}
