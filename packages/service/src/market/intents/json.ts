// Serialization of intents. It is written by hand because the payload is sent exactly as it was stored, with the order of its keys.
import { time } from '../../kit/json-values.ts'
import { statusOf } from './operations.ts'
import type { IntentRow } from './store.ts'

/** Skips an intent whose payload is not valid JSON, so that one broken row does not break the list. */
const jsonOf = (rows: readonly IntentRow[], more: (row: IntentRow) => object) =>
  `[${rows
    .filter(({ payload }) => isJson(payload))
    .map((row) => intentJson(row, more(row)))
    .join(',')}]`

function intentJson(row: IntentRow, more: object): string {
  const rest = JSON.stringify({
    created_at: time(row.created_at),
    expires_at: time(row.expires_at),
    ...more,
  })
  return (
    `{"intent_id":"${row.intent_id}","chain_id":${row.chain_id},"agent_id":${row.agent_id},` +
    `"type":"${row.type}","payload":${row.payload},${rest.slice(1)}`
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Intents for the agent's runner. */
export const pendingJson = (rows: readonly IntentRow[]) => jsonOf(rows, () => ({}))

/** Intents for their owner, with their status. */
export const ownedJson = (rows: readonly IntentRow[], now: Date) => jsonOf(rows, (row) => standing(row, now))

export const ownJson = (row: IntentRow, now: Date) => intentJson(row, standing(row, now))

function standing(row: IntentRow, now: Date) {
  const { result, reason, closed_at } = row
  return {
    status: statusOf(row, now),
    ...(result !== null && { result }),
    ...(reason !== null && { reason }),
    ...(closed_at && { closed_at: time(closed_at) }),
  }
}
