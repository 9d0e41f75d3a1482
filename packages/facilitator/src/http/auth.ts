// Merchants may sign what they send, so that nobody else settles in their name.
import type { IncomingHttpHeaders } from 'node:http'
import { RpcError } from '@referrer/chain'
import { createLoader } from '@referrer/process'
import { ProtocolError, RequestSignature } from '@referrer/protocol'
import { identityRegistryAbi, merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Address, encodeFunctionData, isAddressEqual } from 'viem'
import { type Chain, type Context, once } from '../context.ts'
import { accountIn } from '../onchain/identity.ts'
import { type Call, probe } from '../onchain/probe.ts'
import type { Payment } from '../payment/payment.ts'
import { forNow } from '../payment/refused.ts'
import { READ_GAS, SETTLEMENT_SIGNER_ROLE } from '../settlement/parties.ts'
import { HttpRefusal, unauthorized } from './refusal.ts'

const TIMESTAMP = RequestSignature.TIMESTAMP_HEADER.toLowerCase()
const SIGNATURE = RequestSignature.SIGNATURE_HEADER.toLowerCase()
/** As many as one `eth_call` surely has gas for. */
const MOST_QUESTIONS = 100
/** To read from the chain: the settlement itself needs the time. */
const PATIENCE = { timeoutMs: 3_000 }

/** The signer of a request; undefined where it is not signed and need not be. A replay does no harm: a payment is settled once. */
export async function signerOf(
  { config, clock, recovery }: Context,
  headers: IncomingHttpHeaders,
  body: Uint8Array,
): Promise<Address | undefined> {
  const isSigned = headers[TIMESTAMP] !== undefined || headers[SIGNATURE] !== undefined
  if (!isSigned && config.settlementAuth === 'optional') return undefined
  if (headers[TIMESTAMP] === undefined || headers[SIGNATURE] === undefined) {
    throw unauthorized('signature required')
  }
  try {
    const given = RequestSignature.parse({ get: (name) => String(headers[name.toLowerCase()]) })
    if (!RequestSignature.isWithinWindow(given.timestamp, Math.floor(clock() / 1_000))) {
      throw unauthorized('timestamp out of range')
    }
    return await RequestSignature.recover({ ...given, body }, Promise.resolve(recovery))
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw unauthorized(error.code === 'invalid_timestamp' ? 'bad timestamp' : 'bad signature')
  }
}

interface Question {
  merchantId: bigint
  signer: Address
}

/** Not cached: a role that is granted or revoked counts from its block on. */
const isPermitted = once(
  ({ chains }) =>
    new Map(
      [...chains].map(([chainId, chain]) => [
        chainId,
        createLoader<Question, boolean>({
          keyOf: ({ merchantId, signer }) => `${merchantId}:${signer}`,
          load: (questions) => askChain(chain, questions),
          maxBatch: MOST_QUESTIONS,
        }),
      ]),
    ),
)

/** The owner of the merchant may settle for it, and so may whoever the owner gave the role. */
export async function requirePermission(
  context: Context,
  { chainId, attribution: { merchantId } }: Payment,
  signer: Address,
): Promise<void> {
  const ask = isPermitted(context).get(chainId)
  if (!ask) throw new Error(`chain ${chainId} is not configured`)
  try {
    if (await ask({ merchantId, signer })) return
  } catch (cause) {
    if (!(cause instanceof RpcError)) throw cause
    const message =
      'the chain does not answer whether the caller may settle for this merchant; send the same payment again'
    throw forNow(message, cause)
  }
  throw new HttpRefusal(403, 'caller may not settle for this merchant')
}

/** All of them in one `eth_call`. */
async function askChain({ rpc, contracts, relayers: [{ address }] }: Chain, questions: Question[]) {
  const request: typeof rpc.request = (method, params) => rpc.request(method, params, PATIENCE)
  const calls = questions.flatMap((question) => callsFor(contracts, question))
  const { outcomes } = await probe({ rpc: { request } }, address, calls)
  return questions.map(({ signer }, at) => {
    const [owner, hasRole] = [accountIn(calls[at * 2], outcomes[at * 2]), outcomes[at * 2 + 1]]
    if (!owner || !hasRole) throw new RpcError('refused', 'the chain did not answer every question')
    return isAddressEqual(owner, signer) || (hasRole.ok && BigInt(hasRole.data) === 1n)
  })
}

function callsFor(
  { IdentityRegistry, MerchantRegistry }: Chain['contracts'],
  { merchantId, signer }: Question,
): [Call, Call] {
  const owner = { abi: identityRegistryAbi, functionName: 'ownerOf', args: [merchantId] } as const
  const args = [merchantId, SETTLEMENT_SIGNER_ROLE, signer] as const
  const role = { abi: merchantRegistryAbi, functionName: 'hasRole', args } as const
  return [
    { target: IdentityRegistry, gas: READ_GAS, data: encodeFunctionData(owner) },
    { target: MerchantRegistry, gas: READ_GAS, data: encodeFunctionData(role) },
  ]
}
