// Asking for a purchase. Every purchase is confirmed with a button, and then queued for the agent's runner: the service buys nothing.
import { Money } from '@referrer/protocol'
import type { Address } from 'viem'
import type { Message } from '../../../kit/channel.ts'
import type { Chain, Context } from '../../../kit/context.ts'
import { MarketError } from '../../../kit/market-error.ts'
import { bytesOf } from '../../../machinery/db/bytes.ts'
import * as drafts from '../../../market/intents/drafts.ts'
import { findIntent, queueIntent, statusOf, withdrawIntent } from '../../../market/intents/operations.ts'
import { mintForChat, walletsOfChat } from '../../../market/messenger/operations.ts'
import { holdBuyingLink } from '../../../market/messenger/store.ts'
import { budgetOf } from '../../../market/spending/budget.ts'
import { type AgentOf, agentsOf } from './agents.ts'
import type { Answer, Asked, Command } from './command.ts'
import { offerThrough, searchOffers, type Wallets } from './offers.ts'

const DRAFT_MS = 15 * 60_000
/** How long the runner may take to pick it up. */
const LIFETIME_SECONDS = 86_400

const NO_AGENT = {
  text: 'The wallets of this chat own no agent that could buy. Register an agent with your wallet, or link the wallet that owns it with /start.',
}
const GONE = { text: 'This offer is no longer valid. Send /buy again.' }
const USAGE = {
  text: 'Send /buy and what you want, such as "/buy weather forecast", or /buy and the link of a review.',
}

const buy: Answer = async (asked) => {
  const { context, words } = asked
  if (!context.config.hasIntents) return { text: 'Purchases cannot be queued at this marketplace.' }
  const linked = await walletsOfChat(context, asked.chat)
  if (linked.length === 0) return { text: 'No wallet is linked to this chat. Send /start to link one.' }
  const buyers = await buyersOf(asked)
  const agents = await agentsOf(context, buyers)
  if (agents.length === 0) return buyers.length < linked.length ? noticesOnly(asked) : NO_AGENT
  const wallets = linked.map(({ address }) => address)
  if (words === '') return USAGE
  return /^https?:\/\//i.test(words) ? buyThrough(asked, agents, wallets) : search(asked, agents, wallets)
}

/** The wallets of the chat that have allowed it to ask for purchases. */
const buyersOf = async ({ context, chat }: Asked): Promise<Address[]> =>
  (await walletsOfChat(context, chat)).flatMap(({ address, mayBuy }) => (mayBuy ? [address] : []))

/** The signature that has linked the chat named neither it nor us, so it may have been made for something else. */
async function noticesOnly({ context, chat }: Asked): Promise<Message> {
  const { url } = await mintForChat(context, chat)
  return {
    text: `This chat gets messages only. To ask for purchases here, open this page and confirm it with your wallet:\n\n${url}\n\nOr ask your agent for link_messenger, which its signer signs, and open the link that it gives you.`,
  }
}

async function buyThrough(asked: Asked, agents: readonly AgentOf[], wallets: Wallets): Promise<Message> {
  const { context, chat, words } = asked
  const offer = await offerThrough(context, words, wallets)
  if ('text' in offer) return offer
  const [draft] = await drafts.replaceDrafts(context.sql, chat, [offer], draftExpiry(context))
  return draft ? confirmation(asked, draft, agents) : GONE
}

async function search(
  { context, chat, words }: Asked,
  agents: readonly AgentOf[],
  wallets: Wallets,
): Promise<Message> {
  const offers = await searchOffers(context, chainOf(context, agents), words, wallets)
  if ('text' in offers) return offers
  const rows = await drafts.replaceDrafts(context.sql, chat, offers, draftExpiry(context))
  const lines = offers.map(
    ({ title, price, rank, line }, at) =>
      `${at + 1}. ${title}: ${usdc(price)}, rank ${rank.toFixed(2)}${line && `\n“${line}”`}`,
  )
  return {
    text: `${lines.join('\n\n')}\n\nWhich one?`,
    buttons: [rows.map(({ draft_id }, at) => ({ label: String(at + 1), data: `o:${draft_id}` }))],
  }
}

/** The chain on which products are searched: the default one, or the first on which the chat has an agent. */
function chainOf({ chains, config }: Context, agents: readonly AgentOf[]): Chain {
  const chainId = config.chains
    .map((chain) => chain.chainId)
    .find((id) => agents.some((a) => a.chainId === id))
  const chain = chainId === undefined ? undefined : chains.get(chainId)
  if (!chain) throw new Error('an agent is on a chain that is not configured')
  return chain
}

const pickOffer: Answer = async (asked) => {
  const { context, chat, words } = asked
  const draft = await drafts.readDraft(context.sql, chat, words, new Date(context.clock()))
  if (!draft) return withoutDraft(asked, words)
  return confirmation(asked, draft, await agentsOf(context, await buyersOf(asked)))
}

const pickAgent: Answer = async (asked) => {
  const { context, chat, words } = asked
  const [draftId = '', agent = ''] = words.split(':')
  if (!/^\d{1,15}$/.test(agent)) return GONE
  const now = new Date(context.clock())
  const draft = await drafts.chooseAgent(context.sql, chat, draftId, { agentId: BigInt(agent), now })
  if (!draft) return withoutDraft(asked, draftId)
  return confirmation(asked, draft, await agentsOf(context, await buyersOf(asked)))
}

/** Asks which agent shall buy, or whether to buy. */
async function confirmation(
  { context, chat }: Asked,
  draft: drafts.DraftRow,
  agents: readonly AgentOf[],
): Promise<Message> {
  const able = agents.filter(({ chainId }) => BigInt(chainId) === draft.chain_id)
  const [only] = able
  const agent = able.length === 1 ? only : able.find(({ agentId }) => agentId === draft.agent_id)
  const what = `${draft.title} for at most ${usdc(draft.price)}`
  const cancel = { label: 'Cancel', data: `x:${draft.draft_id}` }
  if (!only) return { text: 'The wallets of this chat own no agent on the chain of this product.' }
  if (!agent) {
    const choices = able.map(({ agentId }) => [
      { label: `Agent ${agentId}`, data: `a:${draft.draft_id}:${agentId}` },
    ])
    return { text: `${what}\n\nWhich agent shall buy it?`, buttons: [...choices, [cancel]] }
  }
  if (draft.agent_id !== agent.agentId) {
    const now = new Date(context.clock())
    await drafts.chooseAgent(context.sql, chat, draft.draft_id, { agentId: agent.agentId, now })
  }
  const { isEnough, line } = await budgetLine(context, agent, draft.price)
  const buttons = [
    ...(isEnough
      ? [
          [
            { label: 'Buy', data: `b:${draft.draft_id}` },
            { label: 'Buy and review', data: `r:${draft.draft_id}` },
          ],
        ]
      : []),
    [cancel],
  ]
  return { text: `Agent ${agent.agentId} shall buy ${what}.\n${line}`, buttons }
}

/** What is left of the owner's caps. They are set with the wallet alone, never from here. */
async function budgetLine(
  context: Context,
  { chainId, owner }: AgentOf,
  price: bigint,
): Promise<{ isEnough: boolean; line: string }> {
  const chain = context.chains.get(chainId)
  if (!chain) throw new Error(`chain ${chainId} is not configured`)
  const { remaining, perTx } = await budgetOf(context, chain, owner)
  if (perTx !== null && price > perTx) {
    return { isEnough: false, line: 'It costs more than this wallet allows for one purchase.' }
  }
  if (remaining === null) return { isEnough: true, line: 'This wallet has no daily or total cap.' }
  const line = `Budget left: ${usdc(remaining)}.`
  return price > remaining
    ? { isEnough: false, line: `${line} That is not enough.` }
    : { isEnough: true, line }
}

const confirm =
  (isReviewed: boolean): Answer =>
  async (asked) => {
    const { context, chat, words } = asked
    const now = new Date(context.clock())
    const draft = await drafts.readDraft(context.sql, chat, words, now)
    if (!draft) return withoutDraft(asked, words)
    const agents = await agentsOf(context, await buyersOf(asked))
    const agent = agents.find(
      ({ chainId, agentId }) => BigInt(chainId) === draft.chain_id && agentId === draft.agent_id,
    )
    const chain = agent && context.chains.get(agent.chainId)
    if (!agent || !chain) return GONE
    const payload = {
      ref_link: draft.ref_link,
      max_amount: String(draft.price),
      idempotency_key: `chat-${draft.draft_id}`,
      ...(isReviewed && { review: true }),
    }
    const wanted = {
      intentId: draft.draft_id,
      agentId: agent.agentId,
      type: 'buy_product',
      payload,
      lifetimeSeconds: LIFETIME_SECONDS,
    } as const
    try {
      // The draft goes in the transaction that queues the purchase, so that a button that is pressed twice queues it once.
      const intent = await queueIntent(context, chain, agent.owner, wanted, async (tx) => {
        // The link may have ended since the wallets were read.
        if (
          !(await holdBuyingLink(tx, bytesOf(agent.owner), chat)) ||
          !(await drafts.takeDraft(tx, chat, words, now))
        )
          throw new MarketError('conflict', 'taken')
      })
      return {
        text: `Queued: agent ${agent.agentId} buys ${draft.title} for at most ${usdc(draft.price)}${isReviewed ? ' and reviews it' : ''}, as soon as its runner asks. I tell you when it is bought.`,
        buttons: [withdrawButton(intent.intent_id)],
      }
    } catch (error) {
      if (!(error instanceof MarketError) || error.kind === 'unavailable') throw error
      if (error.message === 'taken') return withoutDraft(asked, words)
      return { text: `Not queued: ${error.message}` }
    }
  }

const cancel: Answer = async (asked) => {
  const { context, chat, words } = asked
  const isTaken = await drafts.takeDraft(context.sql, chat, words, new Date(context.clock()))
  return isTaken ? { text: 'Cancelled. Nothing was queued.' } : withoutDraft(asked, words)
}

/** A button that is pressed again must not read as if nothing was queued, or it would be bought a second time. */
async function withoutDraft(asked: Asked, draftId: string): Promise<Message> {
  const { context } = asked
  const intent = await findIntent(context, await buyersOf(asked), draftId)
  if (!intent) return GONE
  const status = statusOf(intent, new Date(context.clock()))
  if (status !== 'pending') return { text: `This purchase was queued before, and is ${status}.` }
  return {
    text: `Queued already: agent ${intent.agent_id} buys it once, as soon as its runner asks.`,
    buttons: [withdrawButton(intent.intent_id)],
  }
}

const withdrawButton = (intentId: string) => [{ label: 'Withdraw', data: `w:${intentId}` }]

const withdraw: Answer = async (asked) => {
  const { context, words } = asked
  for (const wallet of await buyersOf(asked)) {
    const refusal = await withdrawnBy(context, wallet, words)
    if (refusal === undefined)
      return { text: 'Withdrawn. If its runner is paying at this very moment, I tell you.' }
    if (refusal.kind === 'conflict') return { text: `Not withdrawn: the ${refusal.message}.` }
  }
  return { text: 'Not withdrawn: it is of no wallet that this chat may buy for.' }
}

async function withdrawnBy(
  context: Context,
  wallet: Address,
  intentId: string,
): Promise<MarketError | undefined> {
  try {
    await withdrawIntent(context, wallet, intentId)
    return undefined
  } catch (error) {
    if (error instanceof MarketError && error.kind !== 'unavailable') return error
    throw error
  }
}

const usdc = (units: bigint) => `${Money.format(units)} USDC`
const draftExpiry = ({ clock }: Context) => new Date(clock() + DRAFT_MS)

export const buyCommand: Command = {
  name: 'buy',
  takes: '<words or ref link>',
  about: 'find something and let an agent buy it',
  answer: buy,
  buttons: { o: pickOffer, a: pickAgent, b: confirm(false), r: confirm(true), x: cancel, w: withdraw },
}
