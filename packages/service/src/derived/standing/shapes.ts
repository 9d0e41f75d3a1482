import { z } from 'zod'
import { accountShown, momentShown, wholeNumber } from '../../kit/fields.ts'
import { baseUnits } from '../../kit/money.ts'

const shareShown = (about: string) => z.number().meta({ about: `${about} From 0 to 1.` })
const dayShown = z.string().meta({
  about: 'The day (UTC) to which amounts have faded: they halve every 180 days.',
  shown: { type: 'string', format: 'date' },
})
const merchantId = wholeNumber
const spentThere = baseUnits('What the owner spent there, as of the day')
const shopStanding = shareShown('The standing of the shop; null: no shop is verified.').nullable()
const ownerStanding = shareShown(
  'The standing of the owner; null: no shop is verified, or it had bought nothing before the last computation.',
).nullable()
const isVerified = z
  .boolean()
  .meta({ about: 'Whether the operator had verified the shop at the last computation.' })

const asOf = {
  is_on: z.boolean().meta({
    about: 'Whether standings count. Without a verified shop they do not, and everything counts in full.',
  }),
  pass: wholeNumber
    .nullable()
    .meta({ about: 'The number of the last computation, from 1; null: there was none.' }),
}

export const StandingSummary = z
  .object({
    chain_id: wholeNumber,
    ...asOf,
    day: dayShown.nullable(),
    as_of_block: wholeNumber
      .nullable()
      .meta({ about: 'All purchases up to this block were counted, and perhaps some later ones.' }),
    computed_at: momentShown.nullable(),
    verified_shops: wholeNumber,
    owners: wholeNumber.meta({ about: 'How many owners have a standing.' }),
    shops: wholeNumber.meta({ about: 'How many shops have one.' }),
  })
  .meta({ id: 'StandingSummary' })

export const OwnerStanding = z
  .object({
    owner: accountShown,
    ...asOf,
    day: dayShown,
    standing: ownerStanding,
    voice: shareShown('How much counts what the owner says; 1 if it has no standing.'),
    spent_total: baseUnits('What it spent at all shops that are not its own, as of the day'),
    spent: z
      .array(
        z.object({
          merchant_id: merchantId,
          spent: spentThere,
          share: shareShown('The part of `spent_total`.'),
          shop_standing: shopStanding,
          is_verified: isVerified,
        }),
      )
      .meta({ about: 'Where it spent most, at most 100 shops. What it bought since `day` is included.' }),
  })
  .meta({
    id: 'OwnerStanding',
    about:
      'The standing of an owner is the mean over the shops where it bought, weighted by what it spent there.',
  })

export const ShopStanding = z
  .object({
    merchant_id: merchantId,
    ...asOf,
    day: dayShown,
    standing: shopStanding,
    is_verified: isVerified,
    verification: z
      .object({ note: z.string(), decided_at: momentShown })
      .nullable()
      .meta({ about: 'The decision of the operator that holds now; null: the shop is not verified.' }),
    ground: shareShown('How much counts what was bought there; 1 if no shop is verified.'),
    revenue: baseUnits('What its customers spent there, as of the day; null: it was not computed').nullable(),
    customers: wholeNumber.nullable().meta({ about: 'How many they are; null: it was not computed.' }),
    from: z
      .array(z.object({ owner: accountShown, spent: spentThere, standing: ownerStanding }))
      .meta({ about: 'Its largest customers, at most 100. What they bought since `day` is included.' }),
  })
  .meta({
    id: 'ShopStanding',
    about:
      'A verified shop has a standing of 1. Any other has four fifths of the mean over its customers, weighted by what they spent there; ' +
      'of each customer at most a tenth of its spending counts.',
  })

const next = z.string().nullable().meta({ about: '`after` of the next page; null: this is the last one.' })

export const OwnerStandings = z
  .object({
    ...asOf,
    owners: z.array(z.object({ owner: accountShown, standing: shareShown('') })),
    next,
  })
  .meta({ id: 'OwnerStandings' })

export const ShopStandings = z
  .object({
    ...asOf,
    shops: z.array(
      z.object({
        merchant_id: merchantId,
        standing: shareShown(''),
        is_verified: isVerified,
        revenue: baseUnits('As of the day of the computation'),
        customers: wholeNumber,
      }),
    ),
    next,
  })
  .meta({ id: 'ShopStandings' })

export const SpendingEntries = z
  .object({
    ...asOf,
    day: dayShown,
    spending: z.array(z.object({ owner: accountShown, merchant_id: merchantId, spent: spentThere })),
    next,
  })
  .meta({ id: 'SpendingEntries' })
