// The operations of an agent's runner on intents: it polls them and marks each as executed or skipped. The owner signs every call.

import type { Chain, Context } from '../../kit/context.ts'
import { refused, unavailable } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { type Proof, proposeCommitment, requireSigned } from '../commitments/operations.ts'
import { type Budget, budgetOf } from '../spending/budget.ts'
import { isIntentId } from './ids.ts'
import { closeIntent, type IntentRow, pendingIntents } from './store.ts'

/** Limit for the intents in one poll; the next ones are returned when these are closed. */
const MOST_POLLED = 100
/** Length limit of a result or reason in characters (code points). */
export const LONGEST_WORDS = 2_000

export interface Polled {
  intents: IntentRow[]
  /** Undefined when the budget could not be read. */
  budget: Budget | undefined
}

/** The two ways to close an intent: the commitment to sign, and the field for the runner's words. */
const MARKS = {
  executed: { commitment: 'IntentMarkCommitment', says: 'result', isRequired: false },
  skipped: { commitment: 'IntentSkipCommitment', says: 'reason', isRequired: true },
} as const

export interface Mark {
  as: keyof typeof MARKS
  agentId: bigint
  intentId: string
  /** The result of an executed intent, or the reason for skipping it. */
  words: string
}

export function proposeAccess(context: Context, chain: Chain, agentId: bigint) {
  requireQueue(context)
  return proposeCommitment(context, chain, 'IntentAccessCommitment', { agentId })
}

/** The oldest pending intents. The budget is advice only: intents are returned even when it is used up or cannot be read. */
export async function pollIntents(
  context: Context,
  chain: Chain,
  agentId: bigint,
  proof: Proof,
): Promise<Polled> {
  requireQueue(context)
  const { owner } = await requireSigned(context, chain, 'IntentAccessCommitment', { agentId }, proof)
  const of = { chainId: chain.config.chainId, agentId, owner: bytesOf(owner) }
  const [intents, budget] = await Promise.all([
    pendingIntents(context.sql, of, { now: new Date(context.clock()), limit: MOST_POLLED }).catch(
      (error: unknown) => {
        throw unavailable('get pending intents', error)
      },
    ),
    budgetOf(context, chain, owner).catch((error: unknown) => {
      context.log.warn({ err: error }, 'a budget could not be read')
      return undefined
    }),
  ])
  return { intents, budget }
}

export function proposeMark(context: Context, chain: Chain, mark: Mark) {
  checkMark(context, mark, '')
  return proposeCommitment(context, chain, MARKS[mark.as].commitment, termsOf(mark))
}

/** Closes a pending intent; returns false when there was nothing to close. */
export async function markIntent(context: Context, chain: Chain, mark: Mark, proof: Proof): Promise<boolean> {
  checkMark(context, mark, WITH_SIGNATURE)
  const { owner } = await requireSigned(context, chain, MARKS[mark.as].commitment, termsOf(mark), proof)
  if (!isIntentId(mark.intentId)) return false
  const of = { chainId: chain.config.chainId, agentId: mark.agentId, owner: bytesOf(owner) }
  const closing = { status: mark.as, words: mark.words, at: new Date(context.clock()) }
  return closeIntent(context.sql, of, mark.intentId, closing).catch((error: unknown) => {
    throw unavailable(`mark intent ${mark.as}`, error)
  })
}

const WITH_SIGNATURE = ' with agent_sig'

function requireQueue({ config }: Context): void {
  if (!config.hasIntents) throw refused('not found', 'intent queue not enabled')
}

function checkMark(context: Context, { as, intentId, words }: Mark, when: string): void {
  const { says, isRequired } = MARKS[as]
  requireQueue(context)
  requireGiven('intent_id', intentId, when)
  if (isRequired) requireGiven(says, words, when)
  checkWords('intent_id', intentId)
  checkWords(says, words)
}

function requireGiven(name: string, text: string, when: string): void {
  if (text.trim() === '') throw refused('invalid input', `${name} is required${when}`)
}

/** Refuses text that Postgres cannot store or that is too long. */
function checkWords(name: string, text: string): void {
  if (!text.isWellFormed() || text.includes('\0')) throw refused('invalid input', `invalid ${name}`)
  if (text.length > 2 * LONGEST_WORDS || [...text].length > LONGEST_WORDS) {
    throw refused('invalid input', `${name} exceeds ${LONGEST_WORDS} characters`)
  }
}

const termsOf = ({ as, agentId, intentId, words }: Mark) => ({ agentId, intentId, [MARKS[as].says]: words })
