// Links of wallets to chats. A code made on the web or by a tool is redeemed in the chat; a code made in the chat is redeemed on the web.
import { randomBytes } from 'node:crypto'
import type { Address } from 'viem'
import type { Channel } from '../../kit/channel.ts'
import type { MessengerConfig } from '../../kit/config.ts'
import type { Chain, Context } from '../../kit/context.ts'
import { address } from '../../kit/json-values.ts'
import { MarketError, refused, unavailable } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { type Proof, proposeCommitment, requireSigned } from '../commitments/operations.ts'
import { clientBytes, spendQuota } from '../quotas/store.ts'
import * as store from './store.ts'

const TYPE = 'TelegramLinkCommitment'
const CODE = /^[\w-]{43}$/
/** More wallets of one chat are not shown. */
export const MOST_WALLETS = 50

export interface Minted {
  code: string
  /** URL that opens the chat and passes the code to it. */
  deepLink: string
  expiresAt: Date
}

/** What the codes of one client may take on a day (UTC), because anybody can have wallets for free. */
const CODE_BYTES = 256
const MOST_BYTES = 2 * 1_048_576

/**
 * Mints a code that links the wallet to the chat in which the code is sent, for purchases too if it may buy. Without a client the caller has
 * limited it otherwise.
 */
export async function mintForOwner(
  context: Context,
  owner: Address,
  { mayBuy, client }: { mayBuy: boolean; client?: string },
): Promise<Minted> {
  const { messenger, channel } = requireMessenger(context)
  const minted = newCode(context, messenger)
  await context.sql.begin(async (tx) => {
    if (client !== undefined) {
      const codes = { what: 'link codes made by this client', bytes: CODE_BYTES, most: MOST_BYTES }
      await spendQuota(tx, minted.at.getTime(), { ...codes, who: clientBytes(client) })
    }
    await store.insertOwnersCode(tx, { owner: bytesOf(owner), mayBuy }, minted)
  })
  return { ...minted, deepLink: channel.deepLink(minted.code) }
}

/** The code of a chat, and the page on which it is redeemed. A code that is still valid is given again. */
export async function mintForChat(
  context: Context,
  chat: store.Chat,
): Promise<{ url: string; expiresAt: Date }> {
  const { messenger } = requireMessenger(context)
  const { code, expires_at } = await store.insertChatsCode(context.sql, chat, newCode(context, messenger))
  return { url: `${messenger.consoleUrl}/link?code=${code}`, expiresAt: expires_at }
}

/** Redeems a code that was made in a chat, and links the wallet to that chat. Returns the user name there, when it can be read. */
export async function confirmLink(
  context: Context,
  owner: Address,
  { code, mayBuy }: { code: string; mayBuy: boolean },
): Promise<{ username: string | undefined }> {
  const now = new Date(context.clock())
  const { chat, former } = await context.sql.begin(async (tx) => {
    const chat = CODE.test(code) ? await store.takeChatsCode(tx, code, now) : undefined
    return { chat, former: chat && (await store.saveLink(tx, { owner: bytesOf(owner), mayBuy }, chat, now)) }
  })
  if (!chat) throw new MarketError('invalid input', 'invalid or expired code')
  if (former) tell(context, former, movedFrom(owner))
  return { username: await usernameOf(context, chat) }
}

export interface Wallet {
  address: Address
  /** Whether purchases can be asked for in its chat. */
  mayBuy: boolean
}

/** Redeems a code in a chat, and links the wallet that it names to that chat. Returns the wallet; undefined: the code is not valid. */
export async function redeemInChat(
  context: Context,
  chat: store.Chat,
  code: string,
): Promise<Wallet | undefined> {
  if (!CODE.test(code)) return undefined
  const now = new Date(context.clock())
  const { linked, former } = await context.sql.begin(async (tx) => {
    const linked = await store.takeOwnersCode(tx, code, now)
    return { linked, former: linked && (await store.saveLink(tx, linked, chat, now)) }
  })
  if (!linked) return undefined
  const wallet = walletOf(context, linked)
  if (former) tell(context, former, movedFrom(wallet.address))
  return wallet
}

/** A chat that loses a wallet is where its owner notices that somebody else did it. Nobody waits for it, and it is tried once. */
function tell({ channels }: Context, { channel, chat }: store.Chat, text: string): void {
  void channels.get(channel)?.send(chat, { text }, randomBytes(16).toString('hex'))
}

const movedFrom = (wallet: Address) =>
  `${wallet} is now linked to another chat, and this one gets no more messages about it. If that was not you, end that link with the wallet.`

const unlinkedFrom = (wallet: Address) =>
  `Unlinked: ${wallet}\n\nThis was done outside of the chat, which gets no more messages about it. If that was not you, send /start to link it again.`

const walletOf = ({ recovery }: Context, { owner, mayBuy }: store.Linked): Wallet => ({
  address: address(recovery, owner),
  mayBuy,
})

export async function linkStatus(
  context: Context,
  owner: Address,
): Promise<{ linkedAt: Date; username: string | undefined } | undefined> {
  const link = await store.readLink(context.sql, bytesOf(owner))
  return link && { linkedAt: link.linked_at, username: await usernameOf(context, link) }
}

/** Ends the link of a wallet and tells the chat; nothing happens when there is none. */
export async function unlinkOwner(context: Context, owner: Address): Promise<void> {
  const chat = await store.deleteLink(context.sql, bytesOf(owner))
  if (chat) tell(context, chat, unlinkedFrom(owner))
}

/** Ends the link of a wallet to this chat, and not one that the wallet has got to another chat meanwhile. */
export async function unlinkFromChat(context: Context, chat: store.Chat, owner: Address): Promise<void> {
  await store.deleteLink(context.sql, bytesOf(owner), chat)
}

/** The wallets of a chat, in the order in which they were linked. */
export async function walletsOfChat(context: Context, chat: store.Chat): Promise<Wallet[]> {
  const rows = await store.ownersOfChat(context.sql, chat, MOST_WALLETS)
  return rows.map((row) => walletOf(context, row))
}

/** The first step of the tool: returns the commitment to sign, without any read or write. */
export function proposeLink(context: Context, chain: Chain, agentId: bigint) {
  requireMessenger(context)
  return proposeCommitment(context, chain, TYPE, { agentId })
}

/**
 * The second step of the tool: mints a code for the wallet of the agent's owner. A signed commitment works once, even when no code could
 * be stored, so that a copy of it cannot get a code later.
 */
export async function linkMessenger(
  context: Context,
  chain: Chain,
  agentId: bigint,
  proof: Proof,
): Promise<Minted> {
  requireMessenger(context)
  const { chainId } = chain.config
  const { owner, nonce, expiry } = await requireSigned(context, chain, TYPE, { agentId }, proof)
  const burned = { chainId, nonce: bytesOf(nonce), expiry: new Date(expiry * 1_000) }
  const isFirst = await store.burnNonce(context.sql, burned).catch((error: unknown) => {
    throw unavailable('burn commitment nonce', error)
  })
  if (!isFirst) throw refused('already exists', 'commitment nonce already used')
  // The commitment names what it is for.
  return mintForOwner(context, owner, { mayBuy: true }).catch((error: unknown) => {
    throw unavailable('mint link code: the commitment is used up, begin again without agent_sig', error)
  })
}

function newCode({ clock }: Context, { codeSeconds }: MessengerConfig): store.NewCode {
  const at = clock()
  return {
    code: randomBytes(32).toString('base64url'),
    at: new Date(at),
    expiresAt: new Date(at + codeSeconds * 1_000),
  }
}

/** A link stays when the operator has removed its messenger. */
const usernameOf = async ({ channels }: Context, { channel, chat }: store.Chat) =>
  channels.get(channel)?.identify(chat)

/** The first channel is the one that new links lead to. */
function requireMessenger({ config: { messenger }, channels }: Context): {
  messenger: MessengerConfig
  channel: Channel
} {
  const [channel] = channels.values()
  if (!messenger || !channel) throw refused('not found', 'telegram linking not enabled')
  return { messenger, channel }
}
