// Sign-In with Ethereum: the signed message contains our domain, so that a signature for another purpose cannot open a session.
import { createHash } from 'node:crypto'
import { createTurns } from '@referrer/net'
import { type Address, type Hash, hashMessage, hexToBytes, isAddressEqual, isHex } from 'viem'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { RateLimited } from '../../kit/market-error.ts'
import { isSignedByWallet, LONGEST_SIGNATURE } from '../../kit/wallet-signature.ts'
import { Unauthenticated } from './caller.ts'
import { endOfNonce, NONCE_SECONDS } from './nonces.ts'
import { type Holder, openSession, type Session } from './sessions.ts'
import { LONGEST_MESSAGE, parseSignInMessage, type SignInMessage } from './sign-in-message.ts'

/** Tolerated difference between clocks. */
const SKEW_MS = 60_000

/** Our host name, with the port where it is not the default one. */
export const hostOf = ({ config }: Pick<Context, 'config'>): string => new URL(config.publicUrl).host

/** Opens a session for a signed message. A message works once, across all replicas. */
export async function signIn(
  context: Context,
  { message: text, signature }: { message: string; signature: string },
  { client, userAgent }: { client: string; userAgent: string | undefined },
): Promise<Session> {
  const message = text.length <= LONGEST_MESSAGE ? parseSignInMessage(text) : undefined
  if (!message)
    throw new Unauthenticated('the message is not a valid EIP-4361 message (Sign-In with Ethereum)')
  const chain = checkMessage(context, message)
  const end = await checkNonce(context, message.nonce)
  const holder = await holderOf(context, chain, {
    address: message.address,
    digest: hashMessage(text),
    signature,
    client,
  })
  if (!holder) throw new Unauthenticated('bad signature')
  return opened(
    await openSession(context, holder, {
      userAgent,
      once: {
        digest: createHash('sha256').update(`sign-in ${message.nonce}`).digest(),
        // Kept longer than the nonce is valid, because the clocks of replicas differ.
        forgetAt: new Date(end.getTime() + NONCE_SECONDS * 1_000),
      },
    }),
  )
}

/**
 * Opens a session for a signed request, for programs. Only a body that contains our host opens a full one: the signature of an empty body
 * is the same as that of any GET in the same second, also of one at another service, so its session may do no more than that signature.
 */
export async function signInByRequest(
  context: Context,
  caller: Address | undefined,
  { domain, userAgent }: { domain: string | undefined; userAgent: string | undefined },
): Promise<Session> {
  if (!caller) throw new Unauthenticated('signature required')
  const host = hostOf(context)
  if (domain !== undefined && domain !== host) {
    throw new Unauthenticated(`the body is for another domain: it must name ${host}`)
  }
  const holder = { address: caller, chainId: undefined, mayOnlyRead: domain === undefined }
  return opened(await openSession(context, holder, { userAgent }))
}

function opened(session: Session | undefined): Session {
  if (session) return session
  throw new Unauthenticated('the nonce was used before: get another from /v1/auth/nonce')
}

function checkMessage(context: Context, message: SignInMessage): Chain {
  const { scheme, domain, uri, version, chainId, issuedAt, expirationTime, notBefore } = message
  const { protocol, host, origin } = new URL(context.config.publicUrl)
  const refuse = (detail: string): never => {
    throw new Unauthenticated(detail)
  }
  if (domain !== host) refuse(`the message is for another domain: it must name ${host}`)
  if (scheme !== undefined && `${scheme}:` !== protocol) refuse(`the scheme must be ${protocol}//`)
  if (!URL.canParse(uri) || new URL(uri).origin !== origin) refuse(`URI must be one of ${origin}`)
  if (version !== '1') refuse('Version must be 1')
  const now = context.clock()
  if (issuedAt.getTime() > now + SKEW_MS) refuse('Issued At is in the future')
  if (issuedAt.getTime() < now - NONCE_SECONDS * 1_000 - SKEW_MS) refuse('Issued At is too long ago')
  if (expirationTime && expirationTime.getTime() <= now) refuse('the message has expired')
  if (notBefore && notBefore.getTime() > now) refuse('the message is not valid yet')
  const chain = context.chains.get(chainId)
  return chain ?? refuse(`Chain ID must be one of ${[...context.chains.keys()].join(', ')}`)
}

async function checkNonce(context: Context, nonce: string): Promise<Date> {
  const end = await endOfNonce(context, nonce)
  if (!end) throw new Unauthenticated('the nonce was not issued by this service: get one from /v1/auth/nonce')
  if (end.getTime() <= context.clock()) {
    throw new Unauthenticated('the nonce has expired: get another from /v1/auth/nonce')
  }
  return end
}

/** The holder of the new session; undefined when the signature is not valid. */
async function holderOf(
  context: Context,
  chain: Chain,
  {
    address,
    digest,
    signature,
    client,
  }: { address: Address; digest: Hash; signature: string; client: string },
): Promise<Holder | undefined> {
  if (!isHex(signature) || signature.length > LONGEST_SIGNATURE || signature.length % 2 === 1)
    return undefined
  const signer = await context.recovery.recoverAddress(hexToBytes(digest), signature).catch(() => undefined)
  if (signer && isAddressEqual(signer, address)) return { address, chainId: undefined, mayOnlyRead: false }
  await requireRate(context, client)
  const isIts = await turnsOf(context)(() => isSignedByWallet(chain, address, digest, signature))
  return isIts ? { address, chainId: chain.config.chainId, mayOnlyRead: false } : undefined
}

/** Limits for checks by the RPC node, which unauthenticated callers can trigger: concurrency in all, and a rate for each client. */
const turnsOf = once(() => createTurns(8))
const WALLETS = { perSecond: 2, burst: 20 }
const limiterOf = once(({ limits }) => limits.limiter('contract wallets', WALLETS))

async function requireRate(context: Context, client: string): Promise<void> {
  const seconds = await limiterOf(context)(client)
  if (seconds === 0) return
  throw new RateLimited(
    `signatures of contract wallets are checked on the chain, at most ${WALLETS.perSecond} a second for each client`,
    Math.ceil(seconds),
  )
}
