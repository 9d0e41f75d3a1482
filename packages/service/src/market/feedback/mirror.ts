import type { Transaction } from '@referrer/database'
import type { EventOf } from '../../kit/events.ts'
import { arrayOf, insertRows, type Row, type Table } from '../../machinery/db/rows.ts'

type FeedbackEvent = EventOf<'ReputationRegistry'>
type Given = Extract<FeedbackEvent, { name: 'NewFeedback' }>

/** How much is kept of one agent, and of one client about one agent: the newest. A stranger pays gas for each, and no more. */
export const KEPT_OF_AGENT = 500
export const KEPT_OF_CLIENT = 20
/** Longest texts that are kept, in characters. The URL of a review of ours is far shorter. */
const LONGEST_TAG = 64
const LONGEST_URI = 512
/** What Postgres holds. The registry counts its agents and their feedback up, so that only another contract has larger ones. */
const LARGEST_ID = 2n ** 63n - 1n
/** Of int128 and uint8, as the registry declares them. The decoder reads whole words, and the network's registry can be upgraded. */
const LARGEST_VALUE = 2n ** 127n
const MOST_DECIMALS = 255

const feedback: Table = {
  name: 'chain.feedback',
  key: { chain_id: 'bigint', agent_id: 'bigint', client: 'bytea', feedback_index: 'bigint' },
  columns: {
    block_number: 'bigint',
    log_index: 'integer',
    value: 'numeric',
    value_decimals: 'integer',
    tag1: 'text',
    tag2: 'text',
    endpoint: 'text',
    feedback_uri: 'text',
    feedback_hash: 'bytea',
    given_at: 'time',
    is_revoked: 'boolean',
  },
}

/** A registry that replaces another one counts from 1 again, and nothing of it may stop the indexer. */
const REPLACE = `ON CONFLICT (${Object.keys(feedback.key).join(', ')}) DO UPDATE SET ${Object.keys(
  feedback.columns,
)
  .map((column) => `${column} = excluded.${column}`)
  .join(', ')}`

/** Indexes the newest feedback about each agent, and how much there was. */
export async function applyFeedbackEvents(
  tx: Transaction,
  chainId: number,
  all: FeedbackEvent[],
): Promise<void> {
  const events = all.filter(isStorable)
  if (events.length === 0) return
  const rows = newest(events.filter((event) => event.name === 'NewFeedback')).map((event) =>
    rowOf(chainId, event),
  )
  await Promise.all([
    insertRows(tx, feedback, rows, REPLACE),
    revoke(tx, chainId, events),
    trim(tx, chainId, [...new Set(rows.map((row) => row.agent_id as bigint))]),
    count(tx, chainId, events),
  ])
}

/** Others are left out: nothing of a foreign contract may stop the indexer. */
function isStorable({ name, args }: FeedbackEvent): boolean {
  if (args.agentId > LARGEST_ID || args.feedbackIndex > LARGEST_ID) return false
  if (name !== 'NewFeedback') return true
  const { value, valueDecimals } = args
  return value >= -LARGEST_VALUE && value < LARGEST_VALUE && valueDecimals <= MOST_DECIMALS
}

/** Those that are kept in any case: many events of one agent in one batch are not all written only to be deleted. */
function newest(given: Given[]): Given[] {
  const ofAgent = new Map<bigint, number>()
  const ofClient = new Map<string, number>()
  const seen = new Set<string>()
  return given
    .toReversed()
    .filter(({ args: { agentId, clientAddress, feedbackIndex } }) => {
      const client = `${agentId}/${clientAddress}`
      if (seen.has(`${client}/${feedbackIndex}`)) return false
      seen.add(`${client}/${feedbackIndex}`)
      const [kept, keptOfClient] = [ofAgent.get(agentId) ?? 0, ofClient.get(client) ?? 0]
      if (kept >= KEPT_OF_AGENT || keptOfClient >= KEPT_OF_CLIENT) return false
      ofAgent.set(agentId, kept + 1)
      ofClient.set(client, keptOfClient + 1)
      return true
    })
    .toReversed()
}

const rowOf = (chainId: number, { args, blockNumber, logIndex, timestamp }: Given): Row => ({
  chain_id: chainId,
  agent_id: args.agentId,
  client: args.clientAddress,
  feedback_index: args.feedbackIndex,
  block_number: blockNumber,
  log_index: logIndex,
  value: args.value,
  value_decimals: args.valueDecimals,
  tag1: cut(args.tag1, LONGEST_TAG),
  tag2: cut(args.tag2, LONGEST_TAG),
  endpoint: cut(args.endpoint, LONGEST_URI),
  feedback_uri: cut(args.feedbackURI, LONGEST_URI),
  feedback_hash: args.feedbackHash,
  given_at: timestamp,
  is_revoked: false,
})

/** A pair of surrogates may be cut in two. */
const cut = (text: string, longest: number) =>
  text.length > longest ? text.slice(0, longest).toWellFormed() : text

/** What is revoked may no longer be kept. */
async function revoke(tx: Transaction, chainId: number, events: FeedbackEvent[]): Promise<void> {
  const revoked = events.filter((event) => event.name === 'FeedbackRevoked')
  if (revoked.length === 0) return
  await tx`
    UPDATE chain.feedback AS f SET is_revoked = true
    FROM unnest(
      ${revoked.map(({ args }) => args.agentId)}::bigint[],
      ${arrayOf(
        'bytea',
        revoked.map(({ args }) => args.clientAddress),
      )}::bytea[],
      ${revoked.map(({ args }) => args.feedbackIndex)}::bigint[]) AS e (agent_id, client, feedback_index)
    WHERE f.chain_id = ${chainId} AND f.agent_id = e.agent_id AND f.client = e.client
      AND f.feedback_index = e.feedback_index`
}

/** Deletes what is older than the newest of its client or agent. It reads no more than is kept and was just written. */
async function trim(tx: Transaction, chainId: number, agentIds: bigint[]): Promise<void> {
  if (agentIds.length === 0) return
  await tx`
    DELETE FROM chain.feedback AS f USING (
      SELECT agent_id, client, feedback_index,
        row_number() OVER (PARTITION BY agent_id ORDER BY block_number DESC, log_index DESC) AS of_agent,
        row_number() OVER (PARTITION BY agent_id, client ORDER BY feedback_index DESC) AS of_client
      FROM chain.feedback WHERE chain_id = ${chainId} AND agent_id = ANY(${agentIds}::bigint[])) AS old
    WHERE f.chain_id = ${chainId} AND (f.agent_id, f.client, f.feedback_index) = (old.agent_id, old.client, old.feedback_index)
      AND (old.of_agent > ${KEPT_OF_AGENT} OR old.of_client > ${KEPT_OF_CLIENT})`
}

async function count(tx: Transaction, chainId: number, events: FeedbackEvent[]): Promise<void> {
  const byAgent = [...Map.groupBy(events, ({ args }) => args.agentId)]
  const given = byAgent.map(([, some]) => some.filter(({ name }) => name === 'NewFeedback').length)
  await tx`
    INSERT INTO chain.feedback_counts AS c (chain_id, agent_id, given, revoked)
    SELECT ${chainId}, e.agent_id, e.given, e.total - e.given
    FROM unnest(${byAgent.map(([agentId]) => agentId)}::bigint[], ${given}::bigint[],
      ${byAgent.map(([, some]) => some.length)}::bigint[]) AS e (agent_id, given, total)
    ON CONFLICT (chain_id, agent_id) DO UPDATE SET
      given = c.given + excluded.given, revoked = c.revoked + excluded.revoked`
}
