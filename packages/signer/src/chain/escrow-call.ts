// Transactions about one escrow, by the key of an agent.
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { type ContractEventName, type ParseEventLogsReturnType, parseEventLogs } from 'viem'
import type { Context } from '../context.ts'
import { connect } from './chain.ts'
import { settingsOf } from './deployment.ts'
import { type Call, eventNotFound, send } from './send.ts'
import { type EscrowTerms, readTerms } from './terms.ts'

type Abi = typeof commissionEscrowAbi
type EscrowEvent = Extract<ContractEventName<Abi>, 'EscrowBound' | 'EscrowSettled'>

export interface Subject {
  agent_id: bigint
  escrow_id: bigint
  chain_id?: number | undefined
}

/** Calls the escrow contract with the terms of the escrow, and returns the event that says what happened. */
export async function callEscrow<F extends 'bind' | 'settleFallback', E extends EscrowEvent>(
  context: Context,
  { agent_id, escrow_id, chain_id }: Subject,
  functionName: F,
  argsOf: (terms: EscrowTerms) => Call<Abi, F>['args'],
  eventName: E,
) {
  const account = context.config.keys.ofAgent(agent_id)
  const { COMMISSION_ESCROW_ADDRESS: address } = await settingsOf(context, 'COMMISSION_ESCROW_ADDRESS')
  const chain = await connect(context, chain_id)
  const args = argsOf(await readTerms(context, chain, escrow_id))
  const { logs, transactionHash } = await send(context, chain, account, {
    address,
    abi: commissionEscrowAbi,
    functionName,
    args,
  })
  const [event] = parseEventLogs({
    abi: commissionEscrowAbi,
    eventName,
    args: { escrowId: escrow_id } as never,
    logs,
  })
  if (!event) throw eventNotFound(eventName, transactionHash)
  return {
    transaction: transactionHash,
    args: event.args as ParseEventLogsReturnType<Abi, E, true>[number]['args'],
  }
}
