import type { Transaction } from '@referrer/database'
import { dayOf } from '@referrer/ranking'
import type { Config } from '../../kit/config.ts'
import type { Change, Follower } from '../following/following.ts'
import { changesOf, choices, thatCount, totalsOf } from './evidence.ts'
import {
  addTotals,
  countedOf,
  type Look,
  lookAtFindings,
  lookAtVotes,
  type Payment,
  refill,
  type Unit,
  writeEvidence,
} from './evidence-store.ts'
import { moneyTotals, spentOf } from './money.ts'
import {
  addMoney,
  addSpent,
  lookAtPurchases,
  lookAtSupport,
  purchasesOfReviews,
  writePurchases,
  writeSupport,
} from './money-store.ts'
import { seeFlags, seeReviews } from './seen.ts'
import { agentsRankedBefore, rankAgents } from './store.ts'

const AGENTS_AT_ONCE = 500

/** Keeps Review Ranks. The cost of a change does not grow with the length of the history. */
export const ranksFollower = ({ fullCommission }: Pick<Config, 'fullCommission'>): Follower => ({
  async follow({ tx, chain, changes, now }) {
    const { chainId } = chain.config
    const changed = changedBy(changes)
    const { reviews, ballots, agents, purchases } = changed
    await seeReviews(tx, chainId, reviews)
    await seeFlags(tx, chainId, agents)
    const [votes, findings] = await Promise.all([
      lookAtVotes(tx, chainId, ballots, purchases),
      lookAtFindings(tx, reviews),
    ])
    const ranked = [
      ...agents,
      ...(await chooseAgain(tx, chainId, [...votes, ...findings])),
      ...(await countMoney(tx, chainId, changed, fullCommission)),
    ]
    await rankAgents(tx, chainId, [...new Set(ranked)], { today: dayOf(now), fullCommission })
  },

  async refresh({ tx, chain, now }) {
    const { chainId } = chain.config
    const agents = await agentsRankedBefore(tx, chainId, dayOf(now), AGENTS_AT_ONCE)
    await rankAgents(tx, chainId, agents, { today: dayOf(now), fullCommission })
    return agents.length > 0
  },
})

interface Changed {
  reviews: bigint[]
  ballots: bigint[]
  agents: bigint[]
  purchases: Payment[]
}

const changedBy = (changes: readonly Change[]): Changed => ({
  reviews: changes.flatMap((change) => (change.what === 'review' ? change.internalId : [])),
  ballots: changes.flatMap((change) => (change.what === 'ballot' ? change.ballotId : [])),
  agents: changes.flatMap((change) => (change.what === 'agent' ? change.agentId : [])),
  purchases: changes.filter((change) => change.what === 'purchase'),
})

/** Chooses the evidence of the affected units again. Returns the agents whose totals have changed. */
async function chooseAgain(tx: Transaction, chainId: number, looks: readonly Look[]): Promise<bigint[]> {
  const units = new Map<string, Unit>(
    looks.map((look) => [`${look.agentId}/${look.voterOwner.toString('hex')}`, look]),
  )
  const counted = await countedOf(tx, chainId, [...units.values()])
  const open = choices(
    counted,
    looks.flatMap(({ piece }) => piece ?? []),
  )
  await refill(tx, chainId, open)
  const change = changesOf(
    open.map((choice) => ({ before: choice.before, after: thatCount(choice, choice.candidates) })),
  )
  const totals = totalsOf(change)
  await writeEvidence(tx, chainId, change)
  await addTotals(tx, chainId, totals)
  return totals.map(({ agentId }) => agentId)
}

/** Counts the affected purchases and votes again. Returns the agents whose money has changed. */
async function countMoney(
  tx: Transaction,
  chainId: number,
  { reviews, ballots, purchases }: Changed,
  fullCommission: bigint,
): Promise<bigint[]> {
  const reviewed = reviews.length > 0 ? await purchasesOfReviews(tx, reviews) : []
  const bought = await lookAtPurchases(tx, chainId, [...purchases, ...reviewed], fullCommission)
  const voted = await lookAtSupport(tx, chainId, { ballotIds: ballots, payments: purchases }, fullCommission)
  await writePurchases(tx, chainId, bought)
  await writeSupport(tx, chainId, voted)
  await addSpent(tx, chainId, spentOf(bought))
  const totals = moneyTotals([...bought, ...voted])
  await addMoney(tx, chainId, totals)
  return totals.map(({ agentId }) => agentId)
}
