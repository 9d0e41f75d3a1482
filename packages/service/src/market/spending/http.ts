import { z } from 'zod'
import { bodyChainId, chainId, momentShown, wholeNumber } from '../../kit/fields.ts'
import { time, whole } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { getBudget, getSpendingLimit, setSpendingLimit } from './operations.ts'
import type { Caps } from './store.ts'

/** Value of `updated_at` when the limit was stored but could not be read back. */
const NO_MOMENT = '0001-01-01T00:00:00Z'

const cap = (about: string) =>
  wholeNumber.nullable().meta({ about: `${about}, in USDC base units; null: unlimited.` })

const Limit = z
  .object({
    chain_id: wholeNumber,
    per_tx_cap_usdc: cap('For one purchase'),
    daily_cap_usdc: cap('For all purchases of a day (UTC)'),
    total_cap_usdc: cap('For all purchases'),
    updated_at: momentShown,
  })
  .meta({ id: 'SpendingLimit' })

const Budget = z
  .object({
    chain_id: wholeNumber,
    per_tx_cap_usdc: cap('For one purchase'),
    remaining_budget: wholeNumber.nullable().meta({
      about:
        'The least that the daily and the total cap leave, in USDC base units, 0 when nothing is left; null: neither cap is set.',
    }),
    budget_enforced: z.boolean().meta({ about: 'Whether there is a daily or a total cap to keep to.' }),
    as_of_block: wholeNumber.meta({ about: 'The newest block whose purchases are counted.' }),
  })
  .meta({ id: 'Budget' })

const limitQuery = z.object({
  chain_id: chainId.unwrap().meta({
    about: 'A chain of this service.',
    absent: 'chain_id required',
    shown: { type: 'integer' },
  }),
})

const amount = (about: string) =>
  z
    .int()
    .nullish()
    .transform((number) => (number == null ? null : BigInt(number)))
    .meta({
      about,
      shown: { type: ['integer', 'null'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: null },
    })

const CAPS = {
  per_tx_cap_usdc: amount('For one purchase.'),
  daily_cap_usdc: amount('For all purchases of a day (UTC).'),
  total_cap_usdc: amount('For all purchases.'),
}

/**
 * A signature covers the body alone, and each cap may be left out. So a body that names none must have nothing else either: it may have been
 * signed for another route that takes a chain.
 */
const NewLimit = z.preprocess(
  (given, context) => {
    const names = typeof given === 'object' && !Array.isArray(given) ? Object.keys(given ?? {}) : []
    const keys = names.filter((name) => name !== 'chain_id' && name !== 'updated_at')
    const isOurs = keys.length === 0 || keys.some((name) => Object.hasOwn(CAPS, name))
    if (!isOurs) context.addIssue({ code: 'unrecognized_keys', keys, input: Object(given) })
    return given
  },
  z.object({ chain_id: bodyChainId, ...CAPS }),
)

export const spendingRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/spending-limits',
    tag: 'Spending limits',
    summary: 'Set the limit of the calling wallet on a chain',
    about:
      'Replaces all three caps. A cap that is left out or null is unlimited, 0 allows nothing. A body that names no cap may have no other fields but `chain_id` and `updated_at`. Caps are advice: the service stops no payment, agents check them before they buy.',
    auth: 'caller',
    body: {
      schema: NewLimit,
      refusal: 'invalid body',
    },
    response: Limit,
    refusals: { 400: ['chain_id not configured', 'caps must be non-negative'], 500: 'upsert failed' },
    async handle({ context, caller, client, body }) {
      const caps = { perTx: body.per_tx_cap_usdc, daily: body.daily_cap_usdc, total: body.total_cap_usdc }
      const stored = await setSpendingLimit(context, { owner: caller, chainId: body.chain_id }, caps, client)
      return shown(body.chain_id, stored)
    },
  }),
  route({
    method: 'GET',
    path: '/v1/spending-limits',
    tag: 'Spending limits',
    summary: 'The limit of the calling wallet on a chain',
    auth: 'caller',
    reads: 'primary',
    query: limitQuery,
    response: Limit,
    refusals: { 400: 'chain_id not configured', 404: 'no spending limit set', 500: 'get failed' },
    async handle({ context, caller, query }) {
      const limit = await getSpendingLimit(context, { owner: caller, chainId: query.chain_id })
      return shown(query.chain_id, limit)
    },
  }),
  route({
    method: 'GET',
    path: '/v1/spending-limits/budget',
    tag: 'Spending limits',
    summary: 'What the caps of the calling wallet leave on a chain',
    about:
      'Counts what the wallet paid, with an agent or without, and what its agents bought while it owned them. A purchase counts once its block is in the records.',
    auth: 'caller',
    reads: 'primary',
    query: limitQuery,
    response: Budget,
    refusals: { 400: 'chain_id not configured', 500: 'get failed' },
    async handle({ context, caller, query }) {
      const { remaining, perTx, isEnforced, asOfBlock } = await getBudget(context, {
        owner: caller,
        chainId: query.chain_id,
      })
      return {
        chain_id: query.chain_id,
        per_tx_cap_usdc: perTx === null ? null : whole(perTx),
        remaining_budget: remaining === null ? null : whole(remaining),
        budget_enforced: isEnforced,
        as_of_block: whole(asOfBlock),
      }
    },
  }),
]

function shown(chainId: number, { perTx, daily, total, updatedAt }: Caps & { updatedAt?: Date }) {
  return {
    chain_id: chainId,
    per_tx_cap_usdc: perTx === null ? null : whole(perTx),
    daily_cap_usdc: daily === null ? null : whole(daily),
    total_cap_usdc: total === null ? null : whole(total),
    updated_at: updatedAt ? time(updatedAt) : NO_MOMENT,
  }
}
