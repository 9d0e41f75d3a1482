/**
 * What we give away: one sum for each chain and UTC day. A purchase of a cent costs more gas than its fee brings, and the gas of one that
 * fails in its block is lost. So the worst end of every transaction is counted before it is enqueued, and its true end once it is mined:
 * - gift: what it costs beyond its expected fee. Its merchant's credit pays for it, or else the share of those without credit, of which
 *   each merchant and each payer gets a small part. All gifts together are at most half of the sum. A payment whose fee covers its gas has none.
 * - risk: what it costs if it fails, or if its fee does not come. The payer's credit pays for it, or the other half of the sum, of
 *   which a payer gets a part, or the merchant's credit. For the deployment of a wallet only the sum does.
 * Credit is half of what fees have left when their gas was paid. So a day costs at most the sum, beyond what fees have paid before.
 */
import type { Queryable, Transaction } from '@referrer/database'
import { type Address, bytesToHex, type Hex, numberToHex } from 'viem'
import type { Config } from '../config.ts'
import { forNow, type Refused } from '../payment/refused.ts'
import type { Tried } from './gas.ts'

/** Amounts in base units, and who answers for them. */
export interface Backing {
  gift: bigint
  giftOf: 'new' | 'merchant'
  risk: bigint
  riskOf: 'new' | 'merchant' | 'payer'
}

export type Backed = Tried & Backing
export type Limits = Pick<Config, 'giveawayPerDay'>

/** Parts of the sum of a day. */
const OF_GIFTS = 2n
const OF_RISKS = 2n
const OF_NEW = 10n
const OF_EACH_GIFT = 1_000n
const OF_EACH_RISK = 100n

type Holder = 'all' | 'new' | `merchant:${Hex}` | `payer:${Address}`

interface Sums {
  gift: bigint
  risk: bigint
  credit: bigint
}

const DAY_MS = 86_400_000
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS)
const nextDay = (ms: number): string => `${new Date((dayOf(ms) + 1) * DAY_MS).toISOString().slice(0, 16)}Z`

const merchantOf = ({ order }: Tried): Holder =>
  `merchant:${numberToHex(order.attribution.merchantId, { size: 8 })}`
const payerOf = ({ order }: Tried): Holder => `payer:${order.key.payer}`

/** In the order of the payments, each after those before it. Others of the chain wait until the transaction ends. */
export async function back(
  tx: Transaction,
  limits: Limits,
  chainId: number,
  tried: Tried[],
  now: number,
): Promise<(Backing | Refused)[]> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`facilitator allowance ${chainId}`}, 0))`
  const of = await readSums(tx, chainId, now, tried)
  return tried.map((each) => backOne(limits, of, each, now))
}

function backOne(
  { giveawayPerDay: sum }: Limits,
  of: (name: Holder) => Sums,
  tried: Tried,
  now: number,
): Backing | Refused {
  const { gift, risk, order } = tried
  const [all, fresh, merchant, payer] = [of('all'), of('new'), of(merchantOf(tried)), of(payerOf(tried))]
  const giftOf = merchant.credit >= gift ? 'merchant' : 'new'
  const isGiven =
    all.gift + gift <= sum / OF_GIFTS &&
    (giftOf === 'merchant' ||
      (fresh.gift + gift <= sum / OF_NEW &&
        [merchant, payer].every((each) => each.gift + gift <= sum / OF_EACH_GIFT)))
  if (gift > 0n && !isGiven)
    return forNow(
      `this facilitator gives no more gas away for it today: ${pays(tried)}, or pay after ${nextDay(now)}`,
    )
  // However small the sum is, one payment may be under way while none has failed.
  const isRisked =
    (all.risk === 0n || all.risk + risk <= sum / OF_RISKS) &&
    (payer.risk === 0n || payer.risk + risk <= sum / OF_EACH_RISK)
  const left = merchant.credit - (giftOf === 'merchant' ? gift : 0n)
  const covers = (credit: bigint) => !tried.isDeployment && credit >= risk
  const riskOf = covers(payer.credit) ? 'payer' : isRisked ? 'new' : covers(left) ? 'merchant' : undefined
  if (!riskOf)
    return forNow(
      `too many payments of ${all.risk + risk > sum / OF_RISKS ? 'wallets that are new here' : `the wallet ${order.key.payer}`} are under way or failed in their block today: send it again in a minute, pay from a wallet that has paid here before, or after ${nextDay(now)}`,
    )
  all.gift += gift
  if (giftOf === 'new') for (const each of [fresh, merchant, payer]) each.gift += gift
  else merchant.credit -= gift
  if (riskOf === 'new') for (const each of [all, payer]) each.risk += risk
  else of(riskOf === 'payer' ? payerOf(tried) : merchantOf(tried)).credit -= risk
  return { gift, giftOf, risk, riskOf }
}

/** From which price on its fee covers the gas. A fifth more: its trial found storage warm that was touched by those before it. */
function pays({ order, cost, fee }: Tried): string {
  if (fee === 0n) return 'its product pays no fee that would cover the gas'
  return `a purchase of ${(order.value * cost * 6n) / (fee * 5n) + 1n} base units or more of this product pays for its own gas and is settled now`
}

/** Given on a day to everybody, and at risk or lost. */
export async function givenOn(
  sql: Queryable,
  chainId: number,
  now: number,
): Promise<Pick<Sums, 'gift' | 'risk'>> {
  const { gift, risk } = (await readSums(sql, chainId, now))('all')
  return { gift, risk }
}

/** What each holder has had today, and its credit less what it answers for. */
async function readSums(
  sql: Queryable,
  chainId: number,
  now: number,
  tried: Tried[] = [],
): Promise<(name: Holder) => Sums> {
  // Merchants have eight bytes, payers twenty, and all of them none.
  const ids = tried.flatMap((each) => [merchantOf(each), payerOf(each)].map(bytesIn))
  const rows = await sql<({ kind: string; id: Buffer } & Sums)[]>`
    WITH counted AS (
      SELECT merchant_id, payer, gift, CASE gift_of WHEN 'new' THEN gift ELSE 0 END AS new_gift,
        burned + CASE risk_of WHEN 'new' THEN risk ELSE 0 END AS new_risk, 0::bigint AS of_merchant, 0::bigint AS of_payer
      FROM facilitator.settlements WHERE chain_id = ${chainId} AND day = ${dayOf(now)} AND gift + risk + burned > 0
      UNION ALL SELECT merchant_id, payer, 0, 0, 0, CASE gift_of WHEN 'merchant' THEN gift ELSE 0 END
        + CASE risk_of WHEN 'merchant' THEN risk ELSE 0 END, CASE risk_of WHEN 'payer' THEN risk ELSE 0 END
      FROM facilitator.settlements WHERE chain_id = ${chainId} AND NOT is_final
    ), sums AS (
      SELECT each.* FROM counted CROSS JOIN LATERAL (VALUES
        ('all', ''::bytea, gift, new_risk, 0::bigint), ('new', '', new_gift, 0, 0),
        ('merchant', int8send(merchant_id), new_gift, 0, -of_merchant), ('payer', payer, new_gift, new_risk, -of_payer)
      ) AS each (kind, id, gift, risk, credit) WHERE each.id = '' OR each.id = ANY(${ids}::bytea[])
      UNION ALL SELECT kind, id, 0, 0, credit FROM facilitator.credits
      WHERE chain_id = ${chainId} AND kind IN ('merchant', 'payer') AND id = ANY(${ids}::bytea[])
    )
    SELECT kind, id, sum(gift)::bigint AS gift, sum(risk)::bigint AS risk, sum(credit)::bigint AS credit FROM sums GROUP BY kind, id`
  const holders = new Map<string, Sums>()
  for (const { kind, id, ...sums } of rows)
    holders.set(id.length === 0 ? kind : `${kind}:${bytesToHex(id)}`, sums)
  return (name) => {
    const known = holders.get(name) ?? { gift: 0n, risk: 0n, credit: 0n }
    holders.set(name, known)
    return known
  }
}

const bytesIn = (name: Holder) => Buffer.from(name.slice(name.indexOf('0x') + 2), 'hex')
