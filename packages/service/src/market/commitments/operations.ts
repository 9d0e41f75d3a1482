// Shared by all two-step calls: step 1 returns the commitment to sign and stores nothing; step 2 brings the signature of the agent's owner.
import { Commitment, Nonce, ProtocolError, Signature } from '@referrer/protocol'
import {
  type Address,
  bytesToHex,
  type Hash,
  type Hex,
  hexToBytes,
  isAddressEqual,
  isErc6492Signature,
  parseErc6492Signature,
} from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { MarketError, refused, unavailable } from '../../kit/market-error.ts'
import { ownerOf } from '../../kit/onchain.ts'
import { resolveOwner } from '../../kit/owner.ts'
import { isSignedByWallet, LONGEST_SIGNATURE } from '../../kit/wallet-signature.ts'

export type TwoStepType = Commitment.TwoStepType
type Type = TwoStepType

/** The message of a commitment without nonce and expiry, which are new in each proposal. */
export type Terms<K extends Type> = Omit<Commitment.MessageInput<K>, 'nonce' | 'expiry'> & { agentId: bigint }

/** The fields that step 2 brings besides the terms, not validated yet. */
export interface Proof {
  nonce: unknown
  expiry: unknown
  agentSig: unknown
}

/** A verified signature: its signer, and the data for verifying it again. */
export interface Signed {
  owner: Address
  nonce: Nonce.Nonce
  expiry: number
  signature: Hex
}

export const NONCE_FORMS = { decimal: 'decimal uint256', bytes32: '0x-prefixed 32-byte hex' } as const

/** The answer of step 1, without its status. */
export function proposeCommitment<K extends Type>(
  { clock }: Pick<Context, 'clock'>,
  chain: Chain,
  type: K,
  terms: Terms<K>,
) {
  const occasion = { nonce: Nonce.random(), expiry: Commitment.expiryAt(clock() / 1_000) }
  return Commitment.envelope(commitmentOf(chain, type, terms, occasion))
}

/**
 * Refuses a commitment that is not signed by the agent's present owner on the chain. The agent's payment wallet does not count as owner.
 */
export async function requireSigned<K extends Type>(
  context: Context,
  chain: Chain,
  type: K,
  terms: Terms<K>,
  { nonce: givenNonce, expiry: givenExpiry, agentSig }: Proof,
): Promise<Signed> {
  if (isAbsent(givenNonce) || isAbsent(givenExpiry)) {
    throw refused('invalid input', 'nonce and expiry are required with agent_sig')
  }
  const expiry = expiryOf(givenExpiry, context.clock() / 1_000)
  const nonce = nonceOf(type, givenNonce)
  const digest = Commitment.digest(commitmentOf(chain, type, terms, { nonce, expiry }))
  const signer = await signerOf(context, digest, agentSig)
  const given = agentSig as Hex
  const { owner, isByKey } = await ownerThatSigned(chain, terms.agentId, { signer, digest, signature: given })
  return { owner, nonce, expiry, signature: isByKey ? withFullV(given) : given }
}

const isAbsent = (value: unknown) => value === undefined || value === null

function expiryOf(given: unknown, now: number): number {
  try {
    Commitment.checkExpiry(given as number, now)
    return given as number
  } catch (error) {
    const isPast = error instanceof ProtocolError && error.code === 'commitment_expired'
    throw refused('invalid input', isPast ? 'commitment expired' : 'invalid expiry')
  }
}

function nonceOf(type: Type, given: unknown): Nonce.Nonce {
  try {
    return Commitment.parseNonce(type, given)
  } catch {
    const form = NONCE_FORMS[Commitment.COMMITMENTS[type].nonce]
    throw refused('invalid input', `invalid nonce: must be ${form}`)
  }
}

/** Recovers the signer. Returns, not throws, the refusal when recovery fails, because a contract wallet may still accept the signature. */
async function signerOf({ recovery }: Context, digest: Hash, given: unknown): Promise<Address | MarketError> {
  try {
    return await recovery.recoverAddress(hexToBytes(digest), given)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    if (error.code !== 'malformed_signature')
      return refused('invalid input', `recover signer: ${error.message}`)
    const refusal = refused('invalid input', 'invalid agent_sig: must be 0x-prefixed 65-byte hex')
    if (isLong(given)) return refusal
    throw refusal
  }
}

/** Only a contract wallet can have made it, for example one of several keys. */
const isLong = (given: unknown) =>
  typeof given === 'string' && given.length <= LONGEST_SIGNATURE && LONG.test(given)
const LONG = /^0x([0-9a-fA-F]{2}){66,}$/

async function ownerThatSigned(
  chain: Chain,
  agentId: bigint,
  { signer, digest, signature }: { signer: Address | MarketError; digest: Hash; signature: Hex },
): Promise<{ owner: Address; isByKey: boolean }> {
  const owner = await resolveOwner(agentId, () => ownerOf(chain, agentId)).catch((error: unknown) => {
    const isUnknown = error instanceof MarketError && error.kind === 'unavailable'
    throw signer instanceof MarketError && !isUnknown ? signer : error
  })
  const isByKey = !(signer instanceof MarketError) && isAddressEqual(signer, owner)
  if (isByKey || (await isSignedByWallet(chain, owner, digest, signature))) return { owner, isByKey }
  if (signer instanceof MarketError) throw signer
  throw refused('unauthorized', `signature not from agent owner: recovered ${signer}, want ${owner}`)
}

/** The signature as our contracts take it. Refuses that of a wallet that is not deployed: they can ask only a wallet that is. */
export async function onChainSignature({ rpc }: Chain, { owner, signature }: Signed): Promise<Hex> {
  if (!isErc6492Signature(signature)) return signature
  const code = await rpc.request<Hex>('eth_getCode', [owner, 'latest']).catch((error: unknown) => {
    throw unavailable(`owner ${owner}: read code on-chain`, error)
  })
  if (code !== '0x') return parseErc6492Signature(signature).signature
  throw refused(
    'conflict',
    `the owner ${owner} is a wallet that is not deployed, and this is verified on the chain: deploy the wallet first, then send the same again`,
  )
}

/**
 * Normalizes v to 27 or 28, the only values that our contracts accept. Signatures of contract wallets have their own format and are not
 * changed.
 */
function withFullV(signature: Hex): Hex {
  const { compact, yParity } = Signature.parse(signature)
  return `${bytesToHex(compact)}${yParity === 0 ? '1b' : '1c'}`
}

function commitmentOf<K extends Type>(
  { config: { chainId, contracts } }: Chain,
  type: K,
  terms: Terms<K>,
  occasion: { nonce: Nonce.Nonce; expiry: number },
) {
  // Every two-step commitment has a nonce, an expiry and this contract, but TypeScript cannot infer that for a generic `K`.
  const input = { chainId, reviewRegistry: contracts.ReviewRegistry, message: { ...terms, ...occasion } }
  return Commitment.from(type, input as unknown as Parameters<typeof Commitment.from<K>>[1])
}
