import { z } from 'zod'
import { accountShown, clamp, integer, momentShown, wholeNumber } from '../../kit/fields.ts'
import { address, time, whole } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { listVerifications } from './store.ts'

const MOST = 500

const Verification = z
  .object({
    verification_id: wholeNumber,
    merchant_id: wholeNumber,
    owner: accountShown.meta({
      about: 'Who owned the shop then. A decision does not hold for a later owner.',
    }),
    is_verified: z.boolean().meta({ about: 'False: the verification was withdrawn.' }),
    is_in_force: z.boolean().meta({
      about: 'Whether it is the last decision on the shop, and the shop still belongs to that owner.',
    }),
    note: z.string().meta({ about: 'Why.' }),
    decided_at: momentShown,
  })
  .meta({ id: 'ShopVerification' })

export const verificationRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/standing/verifications',
    tag: 'Ranks',
    summary: 'Which shops the operator has verified, and why',
    about:
      'All decisions, oldest first; they are never changed. Standings rest on the shops whose last decision is a verification in force. While there is none, everything counts in full.',
    auth: 'none',
    query: z.object({
      after: integer(0, 'The `verification_id` to continue after.', (number) => Math.max(number, 0)),
      limit: integer(100, `How many, 1 to ${MOST}.`, clamp(1, MOST)),
    }),
    takesChain: true,
    response: z
      .object({
        verifications: z.array(Verification),
        next_after: wholeNumber
          .nullable()
          .meta({ about: 'The `after` of the next page; null: this is the last.' }),
      })
      .meta({ id: 'ShopVerifications' }),
    async handle({ context, chain, query: { after, limit } }) {
      const rows = await listVerifications(context.sql, chain.config.chainId, {
        after: BigInt(after),
        limit: limit + 1,
      })
      const shown = rows.slice(0, limit).map((row) => ({
        ...row,
        verification_id: whole(row.verification_id),
        merchant_id: whole(row.merchant_id),
        owner: address(context.recovery, row.owner),
        decided_at: time(row.decided_at),
      }))
      const next = rows.length > limit ? shown.at(-1)?.verification_id : undefined
      return { verifications: shown, next_after: next ?? null }
    },
  }),
]
