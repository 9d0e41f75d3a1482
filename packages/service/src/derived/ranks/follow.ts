import type { Transaction } from '@referrer/database'
import { dayOf } from '@referrer/ranking'
import type { Follower } from '../following/following.ts'
import { changesOf, choices, thatCount, totalsOf } from './evidence.ts'
import {
  addTotals,
  countedOf,
  type Look,
  lookAtFindings,
  lookAtVotes,
  refill,
  type Unit,
  writeEvidence,
} from './evidence-store.ts'
import { seeFlags, seeReviews } from './seen.ts'
import { agentsRankedBefore, rankAgents } from './store.ts'

const AGENTS_AT_ONCE = 500

/** Keeps Review Ranks. The cost of a change does not grow with the length of the history. */
export const ranksFollower: Follower = {
  async follow({ tx, chain, changes, now }) {
    const { chainId } = chain.config
    const reviews = changes.flatMap((change) => (change.what === 'review' ? change.internalId : []))
    const ballots = changes.flatMap((change) => (change.what === 'ballot' ? change.ballotId : []))
    const agents = changes.flatMap((change) => (change.what === 'agent' ? change.agentId : []))
    const purchases = changes.filter((change) => change.what === 'purchase')
    await seeReviews(tx, chainId, reviews)
    await seeFlags(tx, chainId, agents)
    const [votes, findings] = await Promise.all([
      lookAtVotes(tx, chainId, ballots, purchases),
      lookAtFindings(tx, reviews),
    ])
    const changed = await chooseAgain(tx, chainId, [...votes, ...findings])
    await rankAgents(tx, chainId, [...new Set([...agents, ...changed])], dayOf(now))
  },

  async refresh({ tx, chain, now }) {
    const { chainId } = chain.config
    const agents = await agentsRankedBefore(tx, chainId, dayOf(now), AGENTS_AT_ONCE)
    await rankAgents(tx, chainId, agents, dayOf(now))
    return agents.length > 0
  },
}

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
