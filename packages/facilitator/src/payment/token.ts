import { createCache } from '@referrer/process'
import { AttestationKey, AttributionToken, ProtocolError } from '@referrer/protocol'
import { type Chain, type Context, once } from '../context.ts'
import { learnKey } from '../market/keys.ts'
import { invalidPayment } from './refused.ts'

interface Question {
  context: Context
  chain: Chain
  token: string
}

/** A link is used by thousands of payments: verified tokens are cached, and only those. */
const MOST_TOKENS = 10_000

const verified = once(({ clock }) =>
  createCache<Question, AttributionToken.Payload>({
    keyOf: ({ chain, token }) => `${chain.chainId}:${token}`,
    load: open,
    ttlMs: () => Number.POSITIVE_INFINITY,
    max: MOST_TOKENS,
    clock,
  }),
)

/** The terms of a ref link, once they are seen to be signed for this chain and its router. Throws `Refused`. */
export async function verifyToken(
  context: Context,
  chain: Chain,
  token: string,
): Promise<AttributionToken.Payload> {
  try {
    const terms = await verified(context)({ context, chain, token })
    // A key that was trusted then may have been replaced twice since.
    AttestationKey.find(chain.ring, terms.kid)
    return terms
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw invalidPayment(`the attribution token does not hold: ${error.message}`, { cause: error })
  }
}

async function open({ context, chain, token }: Question): Promise<AttributionToken.Payload> {
  const { chainId, splitRouter, kid } = AttributionToken.decodeUnverified(token)
  if (chainId !== chain.chainId) {
    throw invalidPayment(
      `the attribution token is for chain ${chainId} and the payment is on chain ${chain.chainId}: pay through a link of this chain`,
    )
  }
  if (splitRouter !== chain.contracts.SplitRouter) {
    throw invalidPayment(
      `the attribution token names the split router ${splitRouter}, which is not the one of chain ${chainId} any more: ask for a fresh ref link`,
    )
  }
  if (!isTrusted(chain, kid)) await learnKey(context, chain)
  return AttributionToken.verify(token, chain.ring)
}

const isTrusted = ({ ring }: Chain, kid: string) => kid === ring.current.kid || kid === ring.previous?.kid
