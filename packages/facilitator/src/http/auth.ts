// Merchants may sign what they send, so that nobody else settles in their name.
import type { IncomingHttpHeaders } from 'node:http'
import { RpcError, readContract } from '@referrer/chain'
import { ProtocolError, RequestSignature } from '@referrer/protocol'
import { identityRegistryAbi, merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Address, keccak256, stringToBytes } from 'viem'
import { type Chain, type Context, once } from '../context.ts'
import type { Payment } from '../payment/payment.ts'
import { Refused } from '../payment/refused.ts'
import { remember } from '../remember.ts'
import { HttpRefusal, unauthorized } from './refusal.ts'

const TIMESTAMP = RequestSignature.TIMESTAMP_HEADER.toLowerCase()
const SIGNATURE = RequestSignature.SIGNATURE_HEADER.toLowerCase()
const SETTLEMENT_SIGNER_ROLE = keccak256(stringToBytes('SETTLEMENT_SIGNER_ROLE'))
const PERMITTED_FOR_MS = 30_000
const MOST_SIGNERS = 10_000
/** To read from the chain: the settlement itself needs the time. */
const PATIENCE = { timeoutMs: 3_000 }

/** Who signed a request, or undefined where nobody did and nobody must. No replay is guarded against: a payment is settled once. */
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
  chain: Chain
  merchantId: bigint
  signer: Address
}

const isPermitted = once(({ clock }) =>
  remember<Question, boolean>({
    keyOf: ({ chain, merchantId, signer }) => `${chain.chainId}:${merchantId}:${signer}`,
    ask: async (question) => {
      const [owner, hasRole] = await Promise.all([ownerOf(question), readRole(question)])
      return owner === question.signer || hasRole
    },
    forMs: () => PERMITTED_FOR_MS,
    most: MOST_SIGNERS,
    clock,
  }),
)

/** The owner of the merchant may settle for it, and so may whoever the owner gave the role. */
export async function requirePermission(
  context: Context,
  { chainId, attribution: { merchantId } }: Payment,
  signer: Address,
): Promise<void> {
  const chain = context.chains.get(chainId)
  if (!chain) throw new Error(`chain ${chainId} is not configured`)
  try {
    if (await isPermitted(context)({ chain, merchantId, signer })) return
  } catch (cause) {
    if (!(cause instanceof RpcError)) throw cause
    const message =
      'the chain does not answer whether the caller may settle for this merchant; send the same payment again'
    throw new Refused('settle_failed', message, { retryable: true, cause })
  }
  throw new HttpRefusal(403, 'caller may not settle for this merchant')
}

/** Undefined: there is no such identity. */
async function ownerOf({ chain, merchantId }: Question): Promise<Address | undefined> {
  const read = {
    address: chain.contracts.IdentityRegistry,
    abi: identityRegistryAbi,
    functionName: 'ownerOf',
    args: [merchantId],
  } as const
  try {
    return await readContract(chain, read, PATIENCE)
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'reverted') return undefined
    throw error
  }
}

function readRole({ chain, merchantId, signer }: Question): Promise<boolean> {
  const read = {
    address: chain.contracts.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'hasRole',
    args: [merchantId, SETTLEMENT_SIGNER_ROLE, signer],
  } as const
  return readContract(chain, read, PATIENCE)
}
