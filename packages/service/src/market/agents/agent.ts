// JSON of an agent: as an entry of a list, and by itself.
import type { Recovery } from '@referrer/protocol'
import { effectiveRank } from '@referrer/ranking'
import { z } from 'zod'
import { accountShown, hex32, momentShown, wholeNumber } from '../../kit/fields.ts'
import { address, hex, timeInSeconds, whole } from '../../kit/json-values.ts'
import { Commission, commissionOf } from '../earnings/commission.ts'
import { shownFile } from '../registrations/json.ts'
import { RegistrationShown } from '../registrations/shapes.ts'
import type { AgentRow, LoneAgentRow } from './store.ts'

const registeredAt = momentShown.meta({
  about: 'When the service first knew of it.',
  shown: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$' },
})

export const AgentEntry = z
  .object({
    agent_id: wholeNumber,
    owner_address: accountShown,
    agent_uri: z.string().optional(),
    payment_wallet: accountShown.optional(),
    review_rank_repeat: z.number().optional(),
    review_rank_one_off: z.number().optional(),
    registered_at: registeredAt,
    commission: Commission,
  })
  .meta({ id: 'AgentEntry' })

export const Agent = z
  .object({
    agent_id: wholeNumber,
    owner_address: accountShown,
    agent_uri: z.string().meta({ about: 'Empty: it has told none.' }),
    payment_wallet: z.string().meta({
      about: 'Empty: it has told none.',
      shown: { type: 'string', pattern: '^(0x[0-9a-fA-F]{40})?$' },
    }),
    review_rank_repeat: z.number().nullable().meta({ about: 'Null: not computed yet.' }),
    review_rank_one_off: z.number().nullable().meta({ about: 'Null: not computed yet.' }),
    registered_at: registeredAt,
    commission: Commission,
    flagged: z.boolean(),
    review_count: wholeNumber.meta({ about: 'Of published reviews.' }),
    reviewed_products: z.array(z.object({ merchant_id: wholeNumber, product_id: hex32 })),
    registration: RegistrationShown.optional(),
  })
  .meta({ id: 'Agent' })

export const AgentList = z
  .object({ agents: z.array(AgentEntry), total: wholeNumber, page: wholeNumber, limit: wholeNumber })
  .meta({ id: 'AgentList' })

export type AgentEntry = z.output<typeof AgentEntry>
export type AgentList = z.output<typeof AgentList>
export type Agent = z.output<typeof Agent>

/** An agent as an entry of a list; missing values are left out. */
export function entryOf(recovery: Recovery.Recovery, row: AgentRow): AgentEntry {
  const repeat = effectiveRank(row.flagged, row.repeat)
  const oneOff = effectiveRank(row.flagged, row.one_off)
  return {
    agent_id: whole(row.agent_id),
    owner_address: address(recovery, row.owner),
    ...(row.uri !== '' && { agent_uri: row.uri }),
    ...(row.payment_wallet && { payment_wallet: address(recovery, row.payment_wallet) }),
    ...(repeat !== null && { review_rank_repeat: repeat }),
    ...(oneOff !== null && { review_rank_one_off: oneOff }),
    registered_at: timeInSeconds(row.recorded_at),
    commission: commissionOf(row),
  }
}

export interface Reviewed {
  count: bigint
  products: { merchant_id: bigint; product_id: Buffer }[]
}

/** An agent by itself; missing values are empty. */
export function agentOf(
  recovery: Recovery.Recovery,
  row: LoneAgentRow,
  { count, products }: Reviewed,
): Agent {
  return {
    agent_id: whole(row.agent_id),
    owner_address: address(recovery, row.owner),
    agent_uri: row.uri,
    payment_wallet: row.payment_wallet ? address(recovery, row.payment_wallet) : '',
    review_rank_repeat: effectiveRank(row.flagged, row.repeat),
    review_rank_one_off: effectiveRank(row.flagged, row.one_off),
    registered_at: timeInSeconds(row.recorded_at),
    commission: commissionOf(row),
    flagged: row.flagged,
    review_count: whole(count),
    reviewed_products: products.map(({ merchant_id, product_id }) => ({
      merchant_id: whole(merchant_id),
      product_id: hex(product_id),
    })),
    ...shownFile(row),
  }
}

export const RegisteredAgent = z
  .object({ agent_id: wholeNumber, owner_address: accountShown })
  .meta({ id: 'RegisteredAgent' })
