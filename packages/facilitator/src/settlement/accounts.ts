// The accounts of payers, merchants and wallet code. Triggers update them with every settlement; they are read here.
import type { Queryable } from '@referrer/database'
import { type Address, bytesToHex, type Hash, type Hex, numberToHex, zeroHash } from 'viem'

export interface Account {
  /** Gas beyond fees today, in base units. */
  owed: bigint
  /** Gas that fees have paid for, and that was not burned since. */
  earned: bigint
  /** Gas that payments under way could burn. */
  atRisk: bigint
  /** Gas burned for nothing within this hour. */
  burned: bigint
}

/** `all` is everybody without trust. */
export type Holder = `payer:${Address}` | `merchant:${Hex}` | `code:${Hash}` | 'all:0x'

export const ALL: Holder = 'all:0x'
export const payerHolder = (payer: Address): Holder => `payer:${payer}`
export const merchantHolder = (id: bigint): Holder => `merchant:${numberToHex(id, { size: 8 })}`
export const codeHolder = (code: Hash): Holder => `code:${code}`

/** Stands for the code of accounts that had no code at their trial, and had some in the block. */
export const GAINED: Hash = zeroHash
/** Stands for accounts without code that emptied themselves, or took their payment back, before its block. */
export const EMPTIED: Hash = numberToHex(1, { size: 32 })

/** The gas of deployments that their payments have not paid for: all of them, and those for the buyers of one merchant. */
export const DEPLOYMENTS: Hash = numberToHex(2, { size: 32 })
export const deploymentsFor = (merchantId: bigint): Hash =>
  numberToHex((3n << 64n) | merchantId, { size: 32 })

export type Accounts = Map<Holder, Account>

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS)
export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS)
export const nextDay = (ms: number): string => textOf((dayOf(ms) + 1) * DAY_MS)
export const nextHour = (ms: number): string => textOf((hourOf(ms) + 1) * HOUR_MS)
const textOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 16)}Z`

/** An account for each holder, empty where there is none yet. Amounts of an earlier day or hour count as 0. */
export async function readAccounts(
  sql: Queryable,
  chainId: number,
  holders: Iterable<Holder>,
  now: number,
): Promise<Accounts> {
  const accounts: Accounts = new Map()
  for (const holder of holders) accounts.set(holder, { owed: 0n, earned: 0n, atRisk: 0n, burned: 0n })
  const names = [...accounts.keys()].map((holder) => holder.split(':') as [string, Hex])
  type AccountRow = { kind: string; id: Buffer } & Record<'owed' | 'earned' | 'at_risk' | 'burned', bigint>
  const rows = await sql<AccountRow[]>`
    SELECT kind, id, earned, at_risk, CASE WHEN day >= ${dayOf(now)} THEN owed ELSE 0 END AS owed,
      CASE WHEN hour >= ${hourOf(now)} THEN burned ELSE 0 END AS burned
    FROM unnest(${names.map(([kind]) => kind)}::text[], ${names.map(([, id]) => Buffer.from(id.slice(2), 'hex'))}::bytea[])
      AS asked (kind, id)
    JOIN facilitator.accounts USING (kind, id)
    WHERE chain_id = ${chainId}`
  for (const { kind, id, owed, earned, at_risk: atRisk, burned } of rows) {
    accounts.set(`${kind}:${bytesToHex(id)}` as Holder, { owed, earned, atRisk, burned })
  }
  return accounts
}
