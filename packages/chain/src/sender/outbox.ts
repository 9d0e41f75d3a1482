import type { Queryable } from '@referrer/database'
import { type Address, type Hex, isAddressEqual } from 'viem'
import { bytes, toHex } from './store.ts'
import type { Origin, TransactionState } from './types.ts'

export interface TransactionRequest {
  chainId: number
  from: Address
  to: Address
  data: Hex
  value?: bigint
  /** Unique per chain. Enqueueing the same again changes nothing. */
  key: string
  label?: string
  /**
   * A gas limit, from a caller who has simulated the call: the sender then does not simulate it, so a revert is mined and paid for.
   * The key does not cover it: when the same key is enqueued again, it is ignored.
   */
  gas?: bigint
  /** The most gas it may take, where foreign code decides that: a simulation that takes more counts as a revert. */
  maxGas?: bigint
  /** Like the gas, it is ignored when the same key is enqueued again. */
  origin?: Origin
}

/** Adds a transaction to the outbox within the caller's own database transaction; returns the intent's id. */
export async function enqueueTransaction(tx: Queryable, request: TransactionRequest): Promise<bigint> {
  const {
    chainId,
    from,
    to,
    data,
    value = 0n,
    key,
    label = null,
    gas = null,
    maxGas = null,
    origin,
  } = request
  if (toHex(bytes(data)) !== data.toLowerCase())
    throw new Error(`the data of "${key}" is not bytes in hex, two digits each: encode the call again`)
  const [added] = await tx<{ id: bigint }[]>`
    INSERT INTO sender.intents (chain_id, key, label, from_address, to_address, data, value, known_gas, max_gas,
      request_ids, traceparents)
    VALUES (${chainId}, ${key}, ${label}, ${bytes(from)}, ${bytes(to)}, ${bytes(data)}, ${value}, ${gas}, ${maxGas},
      ${[...(origin?.requestIds ?? [])]}::text[], ${[...(origin?.traceparents ?? [])]}::text[])
    ON CONFLICT (chain_id, key) DO NOTHING RETURNING id`
  if (added) {
    await tx`SELECT pg_notify('sender', ${wakePayload(chainId, from)})`
    return added.id
  }
  const known = await readTransaction(tx, { chainId, key })
  const isSame =
    known &&
    isAddressEqual(known.from, from) &&
    isAddressEqual(known.to, to) &&
    known.data === data.toLowerCase() &&
    known.value === value
  if (!isSame)
    throw new Error(
      `the key "${key}" on chain ${chainId} already stands for another transaction: give this one a key of its own`,
    )
  return known.id
}

/**
 * Withdraws an enqueued intent within the caller's own database transaction: it fails as `withdrawn` and never takes effect. False when
 * it is no longer enqueued: it has a nonce, or an outcome. When the sender reaches the intent, it waits for that database transaction.
 */
export async function withdrawTransaction(tx: Queryable, id: bigint): Promise<boolean> {
  const { count } = await tx`
    UPDATE sender.intents SET state = 'failed', reason = 'withdrawn', changed_at = now()
    WHERE id = ${id} AND state = 'enqueued'`
  return count === 1
}

/**
 * Frees the key of an intent that failed before anything was signed for it, so that the same can be enqueued again. False when something
 * was signed, or when it has not failed.
 */
export async function releaseKey(tx: Queryable, id: bigint): Promise<boolean> {
  const { count } = await tx`
    UPDATE sender.intents i SET key = i.key || ' unsent ' || i.id
    WHERE i.id = ${id} AND i.state = 'failed' AND NOT EXISTS (SELECT FROM sender.transactions WHERE intent_id = i.id)`
  return count === 1
}

/**
 * Moves an enqueued intent from one signer to another, for whom the call must have the same effect. False when it is no longer enqueued
 * for the first. Its key still stands for the transaction that was enqueued first.
 */
export async function handOverTransaction(
  tx: Queryable,
  id: bigint,
  { from, to }: { from: Address; to: Address },
): Promise<boolean> {
  const [moved] = await tx<{ chain_id: bigint }[]>`
    UPDATE sender.intents
    SET from_address = ${bytes(to)}, reason = NULL, lacks_funds = false, reverts = 0, after_nonce = NULL,
      retry_at = '-infinity', changed_at = now()
    WHERE id = ${id} AND state = 'enqueued' AND from_address = ${bytes(from)} RETURNING chain_id`
  if (!moved) return false
  await tx`SELECT pg_notify('sender', ${wakePayload(Number(moved.chain_id), to)})`
  return true
}

/** The payload of notifications on the channel `sender`. */
export const wakePayload = (chainId: number, signer: Address) => `${chainId}:${signer.toLowerCase()}`
/** Whoever holds this lock sends for the signer. */
export const signerLock = (chainId: number, signer: Address) => `sender:${wakePayload(chainId, signer)}`

export interface TransactionStatus {
  id: bigint
  chainId: number
  key: string
  label: string | null
  from: Address
  to: Address
  data: Hex
  value: bigint
  state: TransactionState
  nonce: number | null
  /** All that were ever signed for it, oldest first; at most one takes effect. */
  hashes: Hex[]
  /** Where it was mined; final when the state is `confirmed` or `failed`. */
  mined: { hash: Hex; blockNumber: number; blockHash: Hex } | null
  /** Why it failed, or why it is delayed. */
  reason: string | null
  /** It waits because its signer cannot pay for gas. */
  lacksFunds: boolean
  enqueuedAt: Date
  changedAt: Date
}

type StatusRow = {
  id: bigint
  chain_id: bigint
  key: string
  label: string | null
  from_address: Buffer
  to_address: Buffer
  data: Buffer
  value: bigint
  state: TransactionState
  nonce: bigint | null
  mined_hash: Buffer | null
  block_number: bigint | null
  block_hash: Buffer | null
  reason: string | null
  lacks_funds: boolean
  enqueued_at: Date
  changed_at: Date
  hashes: Buffer[]
}

export async function readTransaction(
  sql: Queryable,
  which: { id: bigint } | { chainId: number; key: string },
): Promise<TransactionStatus | undefined> {
  const match =
    'id' in which ? sql`i.id = ${which.id}` : sql`i.chain_id = ${which.chainId} AND i.key = ${which.key}`
  const [row] = await sql<StatusRow[]>`
    SELECT i.id, i.chain_id, i.key, i.label, i.from_address, i.to_address, i.data, i.value, i.state, i.nonce,
      i.mined_hash, i.block_number, i.block_hash, i.reason, i.lacks_funds, i.enqueued_at, i.changed_at,
      ARRAY(SELECT hash FROM sender.transactions WHERE intent_id = i.id ORDER BY signed_at, nonce) AS hashes
    FROM sender.intents i WHERE ${match}`
  if (!row) return undefined
  const { mined_hash: hash, block_number: blockNumber, block_hash: blockHash } = row
  return {
    id: row.id,
    chainId: Number(row.chain_id),
    key: row.key,
    label: row.label,
    from: toHex(row.from_address),
    to: toHex(row.to_address),
    data: toHex(row.data),
    value: row.value,
    state: row.state,
    nonce: row.nonce === null ? null : Number(row.nonce),
    hashes: row.hashes.map((item) => toHex(item)),
    mined:
      hash && blockNumber !== null && blockHash
        ? { hash: toHex(hash), blockNumber: Number(blockNumber), blockHash: toHex(blockHash) }
        : null,
    reason: row.reason,
    lacksFunds: row.lacks_funds,
    enqueuedAt: row.enqueued_at,
    changedAt: row.changed_at,
  }
}

/** Whether some process sends for this signer now. */
export async function isServed(sql: Queryable, chainId: number, signer: Address): Promise<boolean> {
  const { count } = await sql`
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (classid::bigint << 32) | objid::bigint = hashtextextended(${signerLock(chainId, signer)}, 0)`
  return count > 0
}

export interface SignerHealth {
  chainId: number
  signer: Address
  /** Whether some process sends for this signer now; false when no process has the signer's key. */
  isServed: boolean
  enqueued: number
  sent: number
  /** How many of both are delayed for a known reason. */
  held: number
  /** That reason, of the oldest one. */
  reason: string | null
  oldestEnqueuedAt: Date | null
  oldestSentAt: Date | null
}

/** One row for each signer with open intents. */
export async function senderHealth(sql: Queryable): Promise<SignerHealth[]> {
  const rows = await sql<
    {
      chain_id: bigint
      from_address: Buffer
      is_served: boolean
      enqueued: number
      sent: number
      held: number
      reason: string | null
      oldest_enqueued_at: Date | null
      oldest_sent_at: Date | null
    }[]
  >`
    WITH open AS (
      SELECT chain_id, from_address,
        count(*) FILTER (WHERE state = 'enqueued')::int AS enqueued,
        count(*) FILTER (WHERE state = 'sent')::int AS sent,
        count(reason)::int AS held,
        (array_agg(reason ORDER BY id) FILTER (WHERE reason IS NOT NULL))[1] AS reason,
        min(enqueued_at) FILTER (WHERE state = 'enqueued') AS oldest_enqueued_at,
        min(enqueued_at) FILTER (WHERE state = 'sent') AS oldest_sent_at,
        hashtextextended('sender:' || chain_id || ':0x' || encode(from_address, 'hex'), 0) AS lock
      FROM sender.intents WHERE state IN ('enqueued', 'sent') GROUP BY chain_id, from_address
    )
    SELECT open.*, EXISTS (
      SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (classid::bigint << 32) | objid::bigint = lock
    ) AS is_served
    FROM open ORDER BY chain_id, from_address`
  return rows.map((row) => ({
    chainId: Number(row.chain_id),
    signer: toHex(row.from_address),
    isServed: row.is_served,
    enqueued: row.enqueued,
    sent: row.sent,
    held: row.held,
    reason: row.reason,
    oldestEnqueuedAt: row.oldest_enqueued_at,
    oldestSentAt: row.oldest_sent_at,
  }))
}
