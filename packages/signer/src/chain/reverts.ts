// Texts for the custom errors of the contracts.
import { commissionEscrowAbi, reviewRegistryAbi } from '@referrer/protocol/abi'
import { BaseError, ContractFunctionRevertedError } from 'viem'
import { time } from '../fields.ts'
import { Refused } from '../refused.ts'

/** The errors of both contracts: a call to one may revert in the other. */
export const ERRORS = [...commissionEscrowAbi, ...reviewRegistryAbi].filter((entry) => entry.type === 'error')

type Args = readonly unknown[]
const seconds = (value: unknown) => time(value as bigint)

const SENTENCES: Record<string, (args: Args) => string> = {
  NoEscrow: ([escrowId]) => `no such escrow: ${escrowId}`,
  NotBuyerWallet: ([caller, payer]) =>
    `not the buyer wallet: ${payer} paid, and this key is of ${caller}; use an agent whose key is that of ${payer}`,
  NotAgentController: ([caller, agentId]) =>
    `not the agent's controller: ${caller} does not own agent ${agentId}; name an agent that the wallet owns`,
  AlreadyBound: ([escrowId]) => `already bound: escrow ${escrowId} has its buying agent, and keeps it`,
  AlreadySettled: ([escrowId]) => `already settled: nothing of escrow ${escrowId} waits any more`,
  FallbackTooEarly: ([availableAt]) =>
    `too early: anyone may settle this escrow from ${seconds(availableAt)} on; call again then`,
  EnforcedPause: () => 'paused: the escrow contract is stopped for now; try again later',
  TermsMismatch: ([escrowId]) =>
    `the marketplace's terms of escrow ${escrowId} are not those of the chain: it may be behind, try again shortly`,
  UnknownEscrow: ([escrow]) =>
    `COMMISSION_ESCROW_ADDRESS ${escrow} was never an escrow of this marketplace: correct it`,
  ProofAlreadyUsed: ([escrowId, reviewId]) =>
    `already reviewed: review ${reviewId} was published on escrow ${escrowId}; edit it with update_review_content_onchain`,
  ReviewNotFound: ([reviewId]) => `no such review: ${reviewId}; give the id on the chain`,
  NotAgentOwner: ([caller, agentId]) => `not the owner: ${caller} does not own agent ${agentId}`,
  NotAnEscrowReview: ([reviewId]) =>
    `wrong proof type: review ${reviewId} does not rest on an escrow; only buyer reviews can be edited`,
  EditWindowClosed: ([closedAt]) =>
    `edit window closed: the 7 days in which this review could be edited ended at ${seconds(closedAt)}`,
  ContentUnchanged: () => 'unchanged hash: this is the content that is published already',
}

export const isRevert = (error: unknown): boolean =>
  error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError) !== null

/** Turns a revert into a refusal with a text; any other error is returned unchanged. */
export function readRevert(error: unknown): unknown {
  if (!(error instanceof BaseError)) return error
  const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError)
  if (!(reverted instanceof ContractFunctionRevertedError)) return error
  const { errorName = '', args = [] } = reverted.data ?? {}
  const sentence = SENTENCES[errorName]?.(args)
  return new Refused(
    sentence ?? `the contract refuses: ${reverted.reason ?? (errorName || 'no reason given')}`,
  )
}
