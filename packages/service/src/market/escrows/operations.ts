import type { Queryable } from '@referrer/database'
import { z } from 'zod'
import type { Chain, Context } from '../../kit/context.ts'
import { momentShown, wholeNumber } from '../../kit/fields.ts'
import { time, whole } from '../../kit/json-values.ts'
import { refused } from '../../kit/market-error.ts'
import { bestEffort } from '../../kit/onchain.ts'
import type { Page } from '../../machinery/db/page.ts'
import { nameOf, votesMissing } from '../votes/gate.ts'
import { holdsMoney } from './holding.ts'
import { cashbackLeg, heldBackLeg, isCashbackOpen, isSettled, Leg } from './legs.ts'
import { type Standing, standingOf } from './standing.ts'
import { type EscrowRow, escrowsOfAgent, findEscrowOfAgent, isWindowOver } from './store.ts'

export const Escrow = z
  .object({
    escrow_id: wholeNumber,
    role: z.enum(['reviewer', 'buyer', 'reviewer+buyer']),
    state: z.enum(['holding', 'settled']).optional().meta({
      about:
        'As the chain has it now; an escrow that holds nothing is `settled` when its window ends, since nobody spends gas on it. Only of a single escrow, and left out when the chain cannot be read or the records are behind it.',
    }),
    held_back: Leg,
    cashback: Leg,
    window_end: momentShown,
    fallback_available: z
      .boolean()
      .meta({ about: 'Whether anybody may settle it now. Only of a single escrow; else false.' }),
  })
  .meta({ id: 'Escrow' })

type EscrowShown = z.output<typeof Escrow>

export const Escrows = z.object({ escrows: z.array(Escrow) })

/** The escrows of an agent as reviewer or buyer, newest first, from the index only. */
export async function listEscrows(
  { sql, clock }: Pick<Context, 'sql' | 'clock'>,
  { config: { chainId } }: Chain,
  agentId: bigint,
  page: Page,
): Promise<z.output<typeof Escrows>> {
  const rows = await escrowsOfAgent(sql, chainId, agentId, page)
  const withoutVotes = await withoutVotesOf(sql, chainId, rows)
  const now = new Date(clock())
  return { escrows: rows.map((row) => shown(row, { agentId, withoutVotes, now })) }
}

/**
 * One escrow of an agent, from the index and, best-effort, from the chain. Where the two disagree because one lags behind, the answer
 * shows the index only, so that its parts are consistent.
 */
export async function escrowStatus(
  { sql, clock }: Pick<Context, 'sql' | 'clock'>,
  chain: Chain,
  { agentId, escrowId }: { agentId: bigint; escrowId: bigint },
): Promise<EscrowShown> {
  if (escrowId === 0n) throw refused('invalid input', 'escrow_id is required')
  const { chainId } = chain.config
  const found = await findEscrowOfAgent(sql, chainId, agentId, escrowId)
  if (!found) throw refused('not found', `escrow ${escrowId} of agent ${agentId} not found`)
  // A settlement that the oracle is sending is not counted: it is not mined yet, and another one may come first.
  const unsettled = { ...found, decided_contradicted: null, decided_earned: null }
  const [withoutVotes, standing] = await Promise.all([
    withoutVotesOf(sql, chainId, [unsettled]),
    bestEffort(chain, (options) => standingOf(chain, found, options)),
  ])
  const row = standing ? unsettled : found
  const isAgreed = standing && (standing.state === 'settled') === isSettled(row)
  const told = isAgreed && (await isOver(sql, chainId, row)) ? OVER : standing
  return shown(row, {
    agentId,
    withoutVotes,
    now: new Date(clock()),
    ...(isAgreed && told && { standing: told }),
  })
}

const OVER: Standing = { state: 'settled', isFallbackOpen: false }

/** Whether an escrow without money is past its window. The chain keeps its state for ever, but there is nothing left to settle. */
async function isOver(sql: Queryable, chainId: number, row: EscrowRow): Promise<boolean> {
  return !holdsMoney(row) && (await isWindowOver(sql, chainId, row.window_end))
}

/** The escrows whose buyer still has to vote. Only open cashback of a known buyer agent is looked up. */
function withoutVotesOf(sql: Queryable, chainId: number, rows: EscrowRow[]): Promise<Set<string>> {
  const open = rows.filter((row) => isCashbackOpen(row) && row.buyer_agent_id !== null)
  return votesMissing(sql, chainId, open)
}

interface Seen {
  agentId: bigint
  withoutVotes: Set<string>
  now: Date
  standing?: Standing
}

function shown(row: EscrowRow, { agentId, withoutVotes, now, standing }: Seen): EscrowShown {
  const isReviewer = row.reviewer_agent_id === agentId
  const isBuyer = row.buyer_agent_id === agentId
  return {
    escrow_id: whole(row.escrow_id),
    role: isReviewer && isBuyer ? 'reviewer+buyer' : isReviewer ? 'reviewer' : 'buyer',
    ...(standing && { state: standing.state }),
    held_back: heldBackLeg(row, { isReviewer, now }),
    cashback: cashbackLeg(row, { isBuyer, areVotesMissing: withoutVotes.has(nameOf(row)) }),
    window_end: time(row.window_end),
    fallback_available: standing?.isFallbackOpen ?? false,
  }
}
