// Simulates payments before they are sent: whether each would be settled now, and with how much gas.
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import { type Address, decodeAbiParameters, encodeFunctionData, type Hex, numberToHex } from 'viem'
import type { Chain, Context } from '../context.ts'
import { type Call, type Outcome, type ProbeTag, probe } from '../onchain/probe.ts'
import { deploymentCall } from '../onchain/wallet-deployment.ts'
import { askWallet, isAccepted } from '../onchain/wallet-signature.ts'
import type { Payment } from '../payment/payment.ts'
import { forNow, invalidPayment, Refused } from '../payment/refused.ts'
import { digestOf } from '../payment/signature.ts'
import { toSettle } from './order.ts'
import { partiesOf, READ_GAS } from './parties.ts'
import { explainRevert } from './revert.ts'

/** The gas that the router gives each purchase of a batch, and that one may use that is sent alone, the check of a contract wallet included. */
export const GAS_PER_PURCHASE = 230_000n
export const GAS_OF_WALLET = 500_000n
/** Seconds from a trial to the block. */
const MINING = 3n
/** Seconds that the node's clock may be ahead of ours. */
const CLOCK_SKEW = 60n

export type Verdict =
  /** `deploymentGas`: that it took to deploy the payer, which has no code yet. */
  | { type: 'good'; gas: bigint; hasCode: boolean; deploymentGas?: bigint }
  | { type: 'refused'; refusal: Refused }
  /** The token has this nonce as used: the money may be in the router, or split, or the payer has cancelled. `refusal`: it is not to be split. */
  | { type: 'used'; refusal?: Refused }
  /** The simulation had no gas left for it: it belongs into the next batch. */
  | { type: 'untried' }

interface Failure {
  type: 'failed'
  revert: Hex
  /** The payer is a contract wallet: its code decides whether a signature holds. */
  hasCode: boolean
  refusal: Refused | undefined
}

/** In the order of the payments. Throws `RpcError` when no node answers; given a block, also when none has it. */
export async function simulate(
  { clock }: Pick<Context, 'clock'>,
  chain: Chain,
  relayer: Address,
  payments: Payment[],
  block?: number,
): Promise<Verdict[]> {
  const now = BigInt(Math.floor(clock() / 1_000))
  const tag = block === undefined ? 'latest' : numberToHex(block)
  const onBlock = await attempt(chain, relayer, payments, now, tag)
  // The newest block of a quiet chain is old: what became valid since needs the timestamp of the pending block.
  return onBlock ?? (await attempt(chain, relayer, payments, now, 'pending')) ?? []
}

/** Undefined: the block is too old to tell. */
async function attempt(
  chain: Chain,
  relayer: Address,
  payments: Payment[],
  now: bigint,
  tag: ProbeTag,
): Promise<Verdict[] | undefined> {
  const purchases = payments.map(({ authorization, attribution }) => ({
    payer: authorization.from,
    attribution,
  }))
  const parties = partiesOf(chain, purchases)
  const undeployed = payments.filter(({ deployment }) => deployment)
  const calls = [
    ...parties.calls,
    ...deploymentCalls(payments),
    ...payments.map((payment) => settleCall(chain, payment)),
  ]
  const wallets = payments.map(({ authorization }) => authorization.from)
  const { timestamp, haveCode, outcomes } = await probe(chain, relayer, calls, { tag, wallets })
  const deployed = new Map(undeployed.map((payment, at) => [payment, outcomes[parties.calls.length + at]]))
  const tried = outcomes.slice(parties.calls.length + undeployed.length)

  let isStale = false
  const verdicts = payments.map((payment, at): Verdict | Failure => {
    const outcome = tried[at]
    if (!outcome) return { type: 'untried' }
    const { validAfter, validBefore } = payment.authorization
    isStale ||= !outcome.ok && timestamp <= validAfter && validAfter <= now + CLOCK_SKEW
    if (outcome.ok && validBefore <= now + MINING) return { type: 'refused', refusal: expired(validBefore) }
    const refusal = parties.judge(at, outcomes)
    const deployment = haveCode[at] ? undefined : deployed.get(payment)
    if (deployment && !deployment.ok) return { type: 'refused', refusal: undeployable(payment) }
    const hasCode = haveCode[at] === true || deployment !== undefined
    if (!outcome.ok) return { type: 'failed', revert: outcome.data, hasCode, refusal }
    if (refusal) return { type: 'refused', refusal }
    const good = { type: 'good', gas: outcome.gasUsed, hasCode } as const
    return deployment ? { ...good, deploymentGas: deployment.gasUsed } : good
  })
  if (isStale && tag !== 'pending') return undefined
  return explainFailures(chain, relayer, payments, verdicts, tag)
}

/** Says why the failed ones failed, by what the chain knows about each. */
async function explainFailures(
  chain: Chain,
  relayer: Address,
  payments: Payment[],
  verdicts: (Verdict | Failure)[],
  tag: ProbeTag,
): Promise<Verdict[]> {
  const failures = payments.flatMap((payment, at) => (verdicts[at]?.type === 'failed' ? [payment] : []))
  if (failures.length === 0) return verdicts as Verdict[]
  const before = deploymentCalls(failures)
  const calls = failures.flatMap((payment) => factCalls(chain, payment))
  const probed = await probe(chain, relayer, [...before, ...calls], { tag })
  const { timestamp } = probed
  const outcomes = probed.outcomes.slice(before.length)
  const facts = new Map(
    failures.map((payment, at) => [payment, outcomes.slice(at * FACTS, (at + 1) * FACTS)] as const),
  )
  return payments.map((payment, at) => {
    const verdict = verdicts[at] as (typeof verdicts)[number]
    if (verdict.type !== 'failed') return verdict
    return judgeFailure(payment, verdict, timestamp, facts.get(payment) ?? [])
  })
}

function judgeFailure(
  payment: Payment,
  { revert, hasCode, refusal }: Failure,
  timestamp: bigint,
  [used, balance, signature]: Outcome[],
): Verdict {
  const { validAfter, validBefore, value, from } = payment.authorization
  const refused = (refusal: Refused): Verdict => ({ type: 'refused', refusal })
  // Wallets before it used up the gas of the simulation.
  if (!used || !balance || !signature) return { type: 'untried' }
  if (numberIn(used) === 1n) return { type: 'used', ...(refusal && { refusal }) }
  if (refusal) return refused(refusal)
  if (timestamp >= validBefore) return refused(expired(validBefore))
  if (timestamp <= validAfter)
    return refused(invalidPayment('authorization not valid yet: wait, or sign one that is valid now'))
  if (hasCode && !isAccepted(signature))
    return refused(invalidPayment(`signature does not match from: the wallet ${from} does not accept it`))
  const funds = numberIn(balance)
  if (funds !== undefined && funds < value)
    return refused(forNow(`the payer ${from} has ${funds} of the ${value} base units that it would pay`))
  const { name, message } = explainRevert(revert)
  if (name === 'SelfReferral') return refused(new Refused('self_referral', message))
  return refused(forNow(message))
}

const expired = (at: bigint) =>
  invalidPayment(`authorization expired at ${at}, or before it can be mined: sign a new one`)

export const undeployable = ({ authorization: { from }, deployment }: Payment) =>
  invalidPayment(
    `the wallet ${from} is not deployed, and the factory ${deployment?.factory} does not deploy it by the call in the signature: deploy the wallet first, then send the same payment again`,
  )

/** Of the payers that are not deployed yet. */
const deploymentCalls = (payments: Payment[]): Call[] =>
  payments.flatMap(({ authorization, deployment }) =>
    deployment ? [deploymentCall(authorization.from, deployment)] : [],
  )

const settleCall = ({ contracts }: Chain, payment: Payment): Call => ({
  target: contracts.SplitRouter,
  gas: GAS_OF_WALLET,
  data: toSettle(payment).data,
})

/** How many calls `factCalls` makes for a payment. */
const FACTS = 3

function factCalls(chain: Chain, { authorization }: Payment): Call[] {
  const { USDC: target, SplitRouter: to } = chain.contracts
  const { kind, from, nonce, signature } = authorization
  const usdc = { abi: sandboxUSDCAbi } as const
  const read = (data: Hex): Call => ({ target, gas: READ_GAS, data })
  const hash = digestOf(chain, kind, { ...authorization, to })
  return [
    read(encodeFunctionData({ ...usdc, functionName: 'authorizationState', args: [from, nonce] })),
    read(encodeFunctionData({ ...usdc, functionName: 'balanceOf', args: [from] })),
    askWallet(from, GAS_OF_WALLET, hash, signature),
  ]
}

function numberIn(outcome: Outcome | undefined): bigint | undefined {
  if (!outcome?.ok || outcome.data.length < 66) return undefined
  return decodeAbiParameters([{ type: 'uint256' }], outcome.data)[0]
}
