// An agent from nothing: a key, money, an identity on the chain, a profile at the marketplace. Every step looks first what is there already.
import type { Deployment } from '@referrer/client/chain'
import type { Hex, LocalAccount } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { z } from 'zod'
import { isOf } from '../agent-book.ts'
import { BackendRefused, retried, withBackend } from '../backend.ts'
import { type Chain, connect } from '../chain/chain.ts'
import { deploymentOf } from '../chain/deployment.ts'
import type { Context } from '../context.ts'
import { withLock } from '../purchase/lock.ts'
import { explain, isExpected, Refused } from '../refused.ts'
import { signExpected } from '../sign-commitment.ts'
import { fund } from './funds.ts'
import { owns, requireIdentity } from './identity.ts'
import type { Step } from './steps.ts'

export interface Wishes {
  /** Whether to ask the faucet; by default in a sandbox only. */
  fund?: boolean | undefined
  cashbackBps?: number | undefined
  /** A key to keep and to set up; never from a model. */
  imported?: Hex | undefined
}

export interface Report {
  chainId: number
  address: string
  agentId: string | null
  steps: Step[]
  nextSteps: string[]
}

/** May be repeated at any time, and at the same time by several processes: the next call goes on where an earlier one ended. */
export async function setUp(
  context: Context,
  wishes: Wishes = {},
  onStep: (step: Step) => void = () => {},
): Promise<Report> {
  const deployment = await deploymentOf(context)
  const chain = await connect(context)
  const { SIGNER_STATE_DIR: stateDir } = context.config
  return context.inTurn('setup', () =>
    withLock(stateDir, 'setup', context.timeouts.lock, async () => {
      const steps: Step[] = []
      const add = (...made: Step[]) => {
        steps.push(...made)
        for (const step of made) onStep(step)
      }
      const subject = await subjectOf(context, chain, wishes.imported)
      const { address } = subject.account
      add({ step: 'key', state: subject.state, about: address })
      add(...(await fund(context, chain, deployment, { address, fund: wishes.fund })))
      const agentId = await register({ context, chain, deployment, subject, wishes, add })
      return { chainId: chain.chainId, address, agentId, steps, nextSteps: nextSteps(steps, agentId) }
    }),
  )
}

interface Subject {
  account: LocalAccount
  /** Where AGENT_KEYS names it. */
  agentId?: string | undefined
  state: Step['state']
}

/** The key to set up: one of the key store that has no agent yet, or that of the environment, or a new one. */
async function subjectOf(
  { config: { store, keys } }: Context,
  { chainId }: Chain,
  imported: Hex | undefined,
): Promise<Subject> {
  const stored = store.accounts()
  if (imported !== undefined) {
    const address = privateKeyToAddress(imported)
    const same = stored.find((account) => account.address === address)
    if (!same) return { account: await store.add(imported), state: 'did' }
    await store.unlock(address)
    return { account: same, state: 'done' }
  }
  const agents = store.agents()
  const waiting = stored.find(({ address }) => !agents.some(isOf({ chainId, address })))
  const account = waiting ?? stored[0]
  if (account) {
    await store.unlock(account.address)
    return { account, state: 'done' }
  }
  const [agentId] = keys.agents
  if (agentId !== undefined) return { account: keys.ofAgent(agentId), agentId, state: 'done' }
  if (keys.fallback) return { account: keys.fallback, state: 'done' }
  return { account: await store.add(), state: 'did' }
}

interface Registering {
  context: Context
  chain: Chain
  deployment: Deployment
  subject: Subject
  wishes: Wishes
  add(step: Step): void
}

/** Returns the agent, or null when its identity waits. */
async function register({
  context,
  chain,
  deployment,
  subject: { account, agentId: named },
  wishes: { cashbackBps },
  add,
}: Registering): Promise<string | null> {
  const place = { context, chain, registry: deployment.contracts.IdentityRegistry }

  /** A step that cannot be done now is told, and the next call tries it again. */
  async function attempt(step: Step['step'], work: () => Promise<Omit<Step, 'step'>>): Promise<boolean> {
    try {
      const made = await work()
      add({ step, ...made })
      return true
    } catch (error) {
      if (!isExpected(error)) throw error
      add({ step, state: 'waiting', about: explain(error) })
      return false
    }
  }

  let agentId = ''
  const hasIdentity = await attempt('identity', async () => {
    if (named === undefined) {
      const identity = await requireIdentity(place, account)
      agentId = identity.agentId
      return { state: identity.isNew ? 'did' : 'done', about: `agent ${agentId}` }
    }
    agentId = named
    if (await owns(place, named, account.address)) return { state: 'done', about: `agent ${named}` }
    throw new Refused(`${account.address} does not own agent ${named}: correct AGENT_KEYS`)
  })
  if (!hasIdentity) return null
  const isListed = await attempt('market', async () => ({
    state: (await makeKnown(context, chain, agentId)) ? 'did' : 'done',
    about: `known at ${deployment.marketUrl}`,
  }))
  if (isListed && cashbackBps !== undefined) {
    await attempt('cashback', async () => {
      await pledge(context, chain, account, agentId, cashbackBps)
      return { state: 'did', about: `${cashbackBps} basis points of the commission` }
    })
  }
  return agentId
}

/** Returns whether the marketplace did not know the agent before. */
async function makeKnown(context: Context, { chainId }: Chain, agentId: string): Promise<boolean> {
  try {
    await withBackend(context, (ask) =>
      retried(context, /not found/, () => ask('register_agent', { agent_id: agentId, chain_id: chainId })),
    )
    return true
  } catch (error) {
    if (error instanceof BackendRefused && /already registered/.test(error.message)) return false
    throw error
  }
}

const Proposed = z.object({ commitment: z.unknown(), nonce: z.string(), expiry: z.int() })

async function pledge(
  context: Context,
  { chainId }: Chain,
  account: LocalAccount,
  agentId: string,
  bps: number,
): Promise<void> {
  const fields = { reviewer_agent_id: agentId, cashback_of_commission_bps: bps, chain_id: chainId }
  await withBackend(context, async (ask) => {
    const proposed = Proposed.safeParse(await ask('set_cashback_rate', fields))
    if (!proposed.success) throw new Refused('the answer of the marketplace cannot be read')
    const { commitment, nonce, expiry } = proposed.data
    const message = { agentId, cashbackOfCommissionBps: bps }
    const agent_sig = await signExpected(account, 'CashbackRateCommitment', commitment, { chainId, message })
    await ask('set_cashback_rate', { ...fields, nonce, expiry, agent_sig })
  })
}

function nextSteps(steps: Step[], agentId: string | null): string[] {
  const waiting = steps.filter(({ state }) => state === 'waiting')
  return [
    ...waiting.map(({ step, about }) => `${step}: ${about}`),
    ...(waiting.length > 0 ? ['Then call setup again: it goes on where it is.'] : []),
    ...(agentId === null
      ? []
      : [
          `Use agent_id ${agentId} with the other tools, such as pay_for_product; discover_products of the marketplace finds what to buy.`,
        ]),
  ]
}
