import { RpcError } from '@referrer/chain'
import { createCache } from '@referrer/process'
import { Authorization, ProtocolError, Signature } from '@referrer/protocol'
import { type Address, bytesToHex, type Hash, type Hex, hexToBytes, size } from 'viem'
import { type Chain, type Context, once } from '../context.ts'
import { probe } from '../onchain/probe.ts'
import { type Deployment, deploymentCall, unwrapSignature } from '../onchain/wallet-deployment.ts'
import { askWallet, CHECK_GAS, isAccepted } from '../onchain/wallet-signature.ts'
import type { Payment, RouterAuthorization } from './payment.ts'
import { forNow, invalidPayment } from './refused.ts'

export interface Signed {
  kind: RouterAuthorization['kind']
  signature: Hex
  /** By recovery, which shows it to nobody. */
  isVerified: boolean
  /** Of a wallet that is not deployed yet. */
  deployment?: Deployment
}

export const RECEIVE = 0
export const TRANSFER = 1
const KINDS = [RECEIVE, TRANSFER] as const
const TYPES = ['ReceiveWithAuthorization', 'TransferWithAuthorization'] as const

/** The relayer pays gas for every byte. Wallets with many owners, or with passkeys, stay well below. */
export const MOST_SIGNATURE_BYTES = 4_096
/** A plain wallet may become a contract at any time; a contract hardly ever stops being one. */
const PLAIN_FOR_MS = 10_000
const CONTRACT_FOR_MS = 600_000
const MOST_WALLETS = 10_000
/** Short, since the settlement needs time too. */
const PATIENCE = { timeoutMs: 3_000 }

/**
 * Which of the two messages was signed, told by the signature itself: `likely` is tried first. What no plain wallet signed may come from a
 * contract wallet, which is asked later (`asItsWalletSigned`): no node sees the signature here.
 */
export async function readSignature(
  context: Context,
  chain: Chain,
  authorization: Authorization.Authorization,
  signature: Hex,
  likely: Signed['kind'],
): Promise<Signed> {
  if (size(signature) > MOST_SIGNATURE_BYTES) {
    throw invalidPayment(
      `the signature has ${size(signature)} bytes: at most ${MOST_SIGNATURE_BYTES} are settled`,
    )
  }
  const plain = plainSignature(signature)
  if (plain) {
    for (const kind of likely === RECEIVE ? KINDS : KINDS.toReversed()) {
      const digest = digestOf(chain, kind, authorization)
      const signer = await recoverSigner(context, digest, plain)
      if (signer === authorization.from) return { kind, signature: plain, isVerified: true }
    }
  }
  const wrapped = unwrapSignature(signature)
  if (wrapped) return readWrapped(context, chain, authorization, wrapped, likely)
  if (await isContract(context, chain, authorization.from))
    return { kind: likely, signature, isVerified: false }
  throw invalidPayment(
    `signature does not match from: sign ${TYPES.join(' or ')} of ${chain.token.name} version ${chain.token.version} at ${chain.contracts.USDC} on chain ${chain.chainId} with the key of ${authorization.from}`,
  )
}

/** Of a wallet that was not deployed when it signed, and may be by now: then the signature within is as that of any other wallet. */
async function readWrapped(
  { config }: Context,
  chain: Chain,
  authorization: Authorization.Authorization,
  { signature, ...deployment }: Deployment & { signature: Hex },
  likely: Signed['kind'],
): Promise<Signed> {
  const { from } = authorization
  const signed = { kind: likely, signature, isVerified: false }
  if (await hasCode(chain, from).catch(unanswered)) return signed
  if (!config.walletFactories.has(deployment.factory))
    throw invalidPayment(
      `the wallet ${from} is not deployed, and wallets of the factory ${deployment.factory} are not deployed here: deploy the wallet first, then send the same payment again`,
    )
  return { ...signed, deployment }
}

/** What the payer signs. */
export function digestOf(
  { chainId, token, contracts }: Chain,
  kind: Signed['kind'],
  authorization: Authorization.AuthorizationInput,
): Hash {
  const domain = { ...token, chainId, verifyingContract: contracts.USDC }
  return Authorization.digest(TYPES[kind], domain, authorization)
}

/** In the one form that contracts take: v is 27 or 28. Undefined: no signature of a plain wallet. */
export function plainSignature(signature: Hex): Hex | undefined {
  try {
    const { compact, yParity } = Signature.parse(signature)
    return `${bytesToHex(compact)}${yParity === 0 ? '1b' : '1c'}`
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}

/** Undefined: nobody can have made such a signature. */
export async function recoverSigner(
  { recovery }: Pick<Context, 'recovery'>,
  digest: Hash,
  signature: Hex,
): Promise<Address | undefined> {
  try {
    return await recovery.recoverAddress(hexToBytes(digest), signature)
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}

/**
 * With the message that a contract wallet takes for signed; where it takes neither, or both, as it was read: its trial tells the rest.
 * Without a salt there is nothing to ask: only a bare transfer can be settled then, and the token asks the wallet for just that. For a
 * payment that is pinned: whoever sees the signature could show it for another purchase.
 */
export async function asItsWalletSigned(chain: Chain, payment: Payment): Promise<Payment> {
  const { authorization, deployment, isCommitted, isVerified } = payment
  if (isVerified || !isCommitted) return payment
  const { from, signature } = authorization
  const signed = { ...authorization, to: chain.contracts.SplitRouter }
  const before = deployment ? [deploymentCall(from, deployment)] : []
  const calls = KINDS.map((kind) => askWallet(from, CHECK_GAS, digestOf(chain, kind, signed), signature))
  const relayer = chain.relayerPool.available()[0]
  const { outcomes } = await probe(chain, relayer, [...before, ...calls]).catch(unanswered)
  const [kind, ...others] = KINDS.filter((_, at) => isAccepted(outcomes[before.length + at]))
  if (kind === undefined || others.length > 0) return payment
  return { ...payment, authorization: { ...authorization, kind } }
}

const codeAt = once(({ clock }) =>
  createCache<{ chain: Chain; address: Address }, boolean>({
    keyOf: ({ chain, address }) => `${chain.chainId}:${address}`,
    load: ({ chain, address }) => hasCode(chain, address),
    ttlMs: (isContract) => (isContract ? CONTRACT_FOR_MS : PLAIN_FOR_MS),
    max: MOST_WALLETS,
    clock,
  }),
)

export const hasCode = async ({ rpc }: Pick<Chain, 'rpc'>, address: Address): Promise<boolean> =>
  (await rpc.request<Hex>('eth_getCode', [address, 'latest'], PATIENCE)) !== '0x'

function isContract(context: Context, chain: Chain, address: Address): Promise<boolean> {
  return codeAt(context)({ chain, address }).catch(unanswered)
}

function unanswered(cause: unknown): never {
  if (!(cause instanceof RpcError)) throw cause
  const message = 'the chain does not answer about the wallet of the payer; send the same payment again'
  throw forNow(message, cause)
}
