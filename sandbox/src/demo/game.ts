// What those who play the demo know while it is played.
import { developmentAccount, type EscrowDeposit, type Market } from '@referrer/contracts/local'
import type { Sql } from '@referrer/database'
import type { HDAccount } from 'viem/accounts'
import type { Caller } from '../caller.ts'
import type { Sandbox } from '../sandbox.ts'
import type { Good } from '../shop/good.ts'
import { SHOPS } from '../shop/shops.ts'
import { type Ids, REVIEWERS } from './cast.ts'
import type { Plan } from './plan.ts'

export interface Game extends Ids {
  sandbox: Sandbox
  market: Market
  caller: Caller
  sql: Sql
  plan: Plan
  adminToken: string
  /** By their places in the plan. */
  published: Map<number, { internalId: number; link: string }>
  deposits: Map<number, EscrowDeposit>
}

export const accountOf = (reviewer: number): HDAccount => developmentAccount(REVIEWERS[reviewer]?.index ?? -1)

export const agentOf = ({ agentIds }: Game, reviewer: number): number => {
  const agentId = agentIds[reviewer]
  if (agentId === undefined) throw new Error(`reviewer ${reviewer} has no agent yet`)
  return agentId
}

export const merchantOf = ({ merchantIds }: Game, { good }: { good: Good }): number =>
  merchantIds[SHOPS.findIndex(({ goods }) => goods.includes(good))] ?? 0

/** Those of a day, with their places in the plan. */
export function placesOf<T extends { day: number }>(
  all: readonly T[],
  day: number,
  isOne: (one: T) => boolean,
) {
  return [...all.entries()].filter(([, one]) => one.day === day && isOne(one))
}
