import { randomBytes } from 'node:crypto'
import type { MessengerConfig } from '../../kit/config.ts'
import type { Chain, Context } from '../../kit/context.ts'
import { refused, unavailable } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { type Proof, proposeCommitment, requireSigned } from '../commitments/operations.ts'
import { burnNonce, insertCode } from './store.ts'

const TYPE = 'TelegramLinkCommitment'
const CODE_BYTES = 32

export interface Link {
  /** URL that opens the chat with the bot and passes the code to it. */
  deepLink: string
  expiresAt: Date
}

/** Step 1: returns the commitment to sign, without any read or write. */
export function proposeLink(context: Context, chain: Chain, agentId: bigint) {
  requireMessenger(context)
  return proposeCommitment(context, chain, TYPE, { agentId })
}

/**
 * Step 2: creates a code that links the wallet of the agent's owner to the chat in which the code is sent. A signed commitment works once,
 * even when no code could be stored, so that a copy of it cannot get a code later.
 */
export async function linkMessenger(
  context: Context,
  chain: Chain,
  agentId: bigint,
  proof: Proof,
): Promise<Link> {
  const messenger = requireMessenger(context)
  const { chainId } = chain.config
  const { owner, nonce, expiry } = await requireSigned(context, chain, TYPE, { agentId }, proof)
  const burned = { chainId, nonce: bytesOf(nonce), expiry: new Date(expiry * 1_000) }
  const isFirst = await burnNonce(context.sql, burned).catch((error: unknown) => {
    throw unavailable('burn commitment nonce', error)
  })
  if (!isFirst) throw refused('already exists', 'commitment nonce already used')

  const code = randomBytes(CODE_BYTES).toString('base64url')
  const at = context.clock()
  const expiresAt = new Date(at + messenger.codeSeconds * 1_000)
  const minted = {
    code,
    direction: 'chat',
    owner: bytesOf(owner),
    chainId,
    agentId,
    at: new Date(at),
    expiresAt,
  } as const
  await insertCode(context.sql, minted).catch((error: unknown) => {
    throw unavailable('mint link code: the commitment is used up, begin again without agent_sig', error)
  })
  return { deepLink: `https://t.me/${messenger.botName}?start=${code}`, expiresAt }
}

function requireMessenger({ config: { messenger } }: Context): MessengerConfig {
  if (!messenger) throw refused('not found', 'telegram linking not enabled')
  return messenger
}
