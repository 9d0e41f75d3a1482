// Gets a plain transfer to the split router back: the facilitator hands out the call, and the wallet that paid sends it.
import { splitRouterAbi } from '@referrer/protocol/abi'
import { type Address, decodeFunctionData, type Hash, isAddressEqual, isHex, type LocalAccount } from 'viem'
import { z } from 'zod'
import { type Chain, connect, type Market, readMarket } from '../chain/chain.ts'
import { settingsOf } from '../chain/deployment.ts'
import { send } from '../chain/send.ts'
import type { Context } from '../context.ts'
import { time } from '../fields.ts'
import { Refused } from '../refused.ts'
import { signTransfer } from '../sign-commitment.ts'
import { facilitatorOf } from './facilitator.ts'
import { jsonOf } from './link.ts'

export interface Transfer {
  txHash: Hash
  /** Of a ref link. */
  token: string
  agentId: string | undefined
  wanted: number | undefined
}

export interface TakenBack {
  transaction: Hash
  amount: bigint
}

const MAX_BYTES = 64 * 1024
const LONGEST_SAYING = 300

const Answer = z.object({
  success: z.boolean().optional(),
  transaction: z.string().optional(),
  errorMessage: z.string().optional(),
  error: z.string().optional(),
  take_back: z.object({ to: z.string(), data: z.string(), not_before: z.int().min(0) }).optional(),
})
type Call = NonNullable<z.output<typeof Answer>['take_back']>

export async function takeBack(context: Context, transfer: Transfer): Promise<TakenBack> {
  const { keys } = context.config
  const account = transfer.agentId === undefined ? keys.ofNoAgent() : keys.ofAgent(transfer.agentId)
  await settingsOf(context, 'CHAIN_ID', 'COMMISSION_ESCROW_ADDRESS')
  const chain = await connect(context, transfer.wanted)
  const market = await readMarket(chain, context)
  const call = await askForCall(context, chain, market, account, transfer)
  const args = argsOf(call, market, account.address, transfer.txHash)
  const { timestamp } = await chain.client.getBlock()
  if (timestamp < BigInt(call.not_before)) {
    throw new Refused(
      `too early: the transfer can be taken back from ${time(call.not_before)} on, because it may still pay for the product until then; call again then`,
    )
  }
  const { transactionHash } = await send(context, chain, account, {
    address: market.router,
    abi: splitRouterAbi,
    functionName: 'takeBackDeposit',
    args,
  })
  return { transaction: transactionHash, amount: args[0].value }
}

async function askForCall(
  context: Context,
  { chainId }: Chain,
  { router: splitRouter }: Market,
  account: LocalAccount,
  { txHash, token, agentId: buyerAgentId }: Transfer,
): Promise<Call> {
  const signed = await signTransfer(account, { chainId, splitRouter, txHash, token, buyerAgentId })
  const { base, isOurs } = await facilitatorOf(context, token)
  if (!base) throw new Refused('the marketplace names no facilitator: set FACILITATOR_URL')
  const body = { txHash, attributionToken: token, chainId, buyerSignature: signed.signature }
  const { status, body: text } = await context
    .get(new URL(`${base}/mpp/charge`), {
      body: JSON.stringify({ ...body, ...(buyerAgentId !== undefined && { buyerAgentId }) }),
      headers: { 'content-type': 'application/json' },
      timeoutMs: context.timeouts.mined,
      maxBytes: MAX_BYTES,
      isOurs,
    })
    .catch(() => ({ status: 0, body: Buffer.of() }))
  const answer = Answer.safeParse(jsonOf(text)).data
  if (!answer) throw new Refused(`the facilitator gives no answer (${status}): call again, nothing was sent`)
  if (answer.success) {
    throw new Refused(
      `not taken back: the transfer pays for the product of the link, transaction ${answer.transaction}`,
    )
  }
  if (answer.take_back) return answer.take_back
  const said = (answer.errorMessage ?? answer.error ?? `status ${status}`).slice(0, LONGEST_SAYING)
  throw new Refused(`nothing can be taken back: the facilitator says ${JSON.stringify(said)}`)
}

/** The call has to be what was asked for: at our router, of this very transfer, with the money for this wallet. */
function argsOf({ to, data }: Call, { router }: Market, payer: Address, txHash: Hash) {
  const call = isHex(data) ? decoded(data) : undefined
  if (to.toLowerCase() !== router.toLowerCase() || call?.functionName !== 'takeBackDeposit') {
    throw foreign(`is no takeBackDeposit of the split router ${router}`)
  }
  const [charge] = call.args
  if (!isAddressEqual(charge.payer, payer)) throw foreign(`is of the payer ${charge.payer}, not ${payer}`)
  if (charge.txHash !== txHash.toLowerCase()) throw foreign(`is of the transfer ${charge.txHash}`)
  return call.args
}

function decoded(data: `0x${string}`) {
  try {
    return decodeFunctionData({ abi: splitRouterAbi, data })
  } catch {
    return undefined
  }
}

const foreign = (what: string) =>
  new Refused(`the facilitator's call ${what}: nothing was sent; report it to the marketplace`)
