// The steps of a purchase: every check that can refuse it comes before the signature.
import { commissionEscrowAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import type { Address, Hex, LocalAccount } from 'viem'
import { type Chain, connect, type Market, readMarket, requireDepositor } from '../chain/chain.ts'
import { settingsOf } from '../chain/deployment.ts'
import { need } from '../config.ts'
import type { Context } from '../context.ts'
import { time, whole } from '../fields.ts'
import { explain, NotBought, Refused } from '../refused.ts'
import { authorize, nonceOf, type Payment } from './authorization.ts'
import { type Affordable, requireAffordable } from './caps.ts'
import { type Delivered, deliver } from './deliver.ts'
import { alreadyPaid, callerGone, requireNothingEarlier } from './earlier-purchases.ts'
import { type Entry, type Journal, keyHash, openJournal } from './journal.ts'
import { endpointOf, type Link, openLink, requireOurRouter } from './link.ts'
import { withLock } from './lock.ts'
import { askOffer, type Offer, requireGoodOffer, urlOf } from './offer.ts'
import type { Order } from './order.ts'
import { requireRoom, reserve } from './reserve.ts'
import { castVotes } from './votes.ts'

export interface Paid extends Delivered {
  payer: string
  amount: bigint
  link: Link
  votes_recorded: number
  votes_error: string | null
  /** What could not be checked. */
  notes: string[]
}

const HANDED_AGAIN =
  'This had been paid by an earlier call and not served: the shop was handed the same payment again, and nothing was paid again.'

export interface PayOptions {
  wanted: number | undefined
  signal: AbortSignal
  /** Stores the result before the journal forgets the purchase: what the shop served is not lost, though the process is killed. */
  keep?(paid: Paid): Promise<void>
}

export async function pay(
  context: Context,
  order: Order,
  { wanted, signal, keep }: PayOptions,
): Promise<Paid> {
  const { SIGNER_STATE_DIR: stateDir } = context.config
  const { account, link, chain, market } = await open(context, order, wanted)
  const wallet = `${chain.chainId}-${account.address.toLowerCase()}`
  return context.inTurn(`purchases of ${wallet}`, () =>
    withLock(stateDir, wallet, context.timeouts.lock, async (requireHeld) => {
      const journal = openJournal(stateDir, chain.chainId, account.address)
      const { entry, ...bought } = await buy(context, chain, market, account, {
        order,
        link,
        signal,
        journal,
        requireHeld,
      }).catch(async (error: unknown) => {
        // The purchase of another machine with the same key may be why it is refused here, by a cap for instance.
        if (error instanceof NotBought && order.idempotencyKey !== undefined) {
          await requireUnused(chain, market, account.address, nonceOf(context, order, link).nonce)
        }
        throw error
      })
      const { escrowId, transaction } = bought.money
      const { agentId, votes } = order
      const cast =
        votes && agentId !== undefined
          ? await castVotes(context, chain, account, { agentId, escrowId, votes })
          : { votes_recorded: 0, votes_error: null }
      const paid: Paid = { ...bought, ...cast, link, payer: account.address }
      if (keep) await keep(paid)
      // The caller is gone: the entry stays open, so that the next call reports the purchase.
      else if (signal.aborted)
        throw new Refused(`the purchase is paid: escrow ${escrowId}, transaction ${transaction}`)
      await journal
        .close(entry, { ...bought.money, isServed: true })
        .catch(() => context.log('the journal cannot be written'))
      return paid
    }),
  )
}

export interface Quote {
  amount: bigint
  /** What could not be checked. */
  notes: string[]
}

/** What the purchase would cost now, after all checks that come before the signature. Signs no payment and writes nothing. */
export async function quote(
  context: Context,
  order: Order,
  { wanted }: { wanted: number | undefined },
): Promise<Quote> {
  const { account, link, chain, market } = await open(context, order, wanted)
  if (order.idempotencyKey !== undefined) {
    await requireUnused(chain, market, account.address, nonceOf(context, order, link).nonce)
  }
  const { amount, budgets, notes } = await ask(context, chain, market, account, { order, link })
  await requireRoom(context, chain, { amount: String(amount), signedAt: signedAt(context) }, budgets)
  return { amount, notes }
}

interface Opened {
  account: LocalAccount
  link: Link
  chain: Chain
  market: Market
}

async function open(context: Context, order: Order, wanted: number | undefined): Promise<Opened> {
  const { keys } = context.config
  const account = order.agentId === undefined ? keys.ofNoAgent() : keys.ofAgent(order.agentId)
  need(context.config, 'BASE_RPC_URL')
  await settingsOf(context, 'CHAIN_ID', 'COMMISSION_ESCROW_ADDRESS')
  if (order.votes) need(context.config, 'REFERRER_AGENT_MCP_URL')
  const link = await openLink(context, order.refLink)
  const chain = await connect(context, wanted)
  const market = await readMarket(chain, context)
  requireOurRouter(link, chain, market)
  await requireDepositor(chain, context, market)
  return { account, link, chain, market }
}

interface Asked extends Affordable {
  url: URL
  offer: Offer
  amount: bigint
}

/** Asks the shop for its offer, and checks it. */
async function ask(
  context: Context,
  chain: Chain,
  market: Market,
  account: LocalAccount,
  { order, link }: { order: Order; link: Link },
): Promise<Asked> {
  const url = urlOf(await endpointOf(context, link), order)
  const offer = await askOffer(context, url, link, order)
  await requireGoodOffer(chain, market, link, offer)
  const amount = BigInt(offer.requirements.amount)
  return { url, offer, amount, ...(await requireAffordable(context, chain, market, account, order, amount)) }
}

interface Buying {
  order: Order
  link: Link
  signal: AbortSignal
  journal: Journal
  /** Whether this process is still the only one that buys with the wallet. */
  requireHeld(): Promise<void>
}

async function buy(
  context: Context,
  chain: Chain,
  market: Market,
  account: LocalAccount,
  { order, link, signal, journal, requireHeld }: Buying,
): Promise<Delivered & { entry: Entry; amount: bigint; notes: string[] }> {
  const unserved = await requireNothingEarlier(context, chain, journal, { order, link, signal })
  if (unserved) {
    const { entry, money } = unserved
    const again = { signal, isPaid: true }
    const delivered = await deliver(context, chain, journal, entry, again).catch((error: unknown) => {
      if (error instanceof Refused && error.data) throw error
      const why = `. The shop was handed the payment once more: ${explain(error)}`
      throw alreadyPaid({ ...money, amount: BigInt(entry.amount), differences: [] }, why)
    })
    return { ...delivered, entry, amount: BigInt(entry.amount), notes: [HANDED_AGAIN, ...delivered.doubts] }
  }
  const asked = await ask(context, chain, market, account, { order, link })
  const { url, offer, amount, agentOwner, budgets, notes } = asked
  const payment = await authorize(context, chain, market, account, { order, link, offer })
  await requireUnused(chain, market, account.address, payment.authorization.nonce)
  const fromBlock = await chain.client.getBlockNumber()
  const entry = entryOf(context, { chain, market, order, link, url, payment, fromBlock, agentOwner })
  await reserve(context, chain, entry, {
    journal,
    budgets,
    async beforeTaking() {
      // The payment cannot be withdrawn after this point, so a caller who has given up must not pay.
      if (signal.aborted) throw callerGone()
      await requireHeld()
    },
  })
  const delivered = await deliver(context, chain, journal, entry, { signal, isPaid: false })
  return { ...delivered, entry, amount, notes: [...notes, ...delivered.doubts] }
}

/** Checks the nonce on the chain: another machine with the same key has a journal of its own. */
async function requireUnused(
  { client }: Chain,
  { escrow, usdc }: Market,
  payer: Address,
  nonce: Hex,
): Promise<void> {
  const args = [payer, nonce] as const
  const [[escrowId], isUsed] = await Promise.all([
    client.readContract({ address: escrow, abi: commissionEscrowAbi, functionName: 'escrowOf', args }),
    client.readContract({ address: usdc, abi: sandboxUSDCAbi, functionName: 'authorizationState', args }),
  ])
  if (escrowId !== 0n)
    throw alreadyPaid({
      escrowId: whole(escrowId, 'escrow'),
      transaction: null,
      amount: null,
      differences: [],
    })
  if (isUsed) {
    throw new Refused(
      'the authorisation of this idempotency_key was used or cancelled: take another key; nothing was paid',
    )
  }
}

const signedAt = ({ now }: Context) => time(Math.floor(now() / 1_000))

function entryOf(
  context: Context,
  parts: {
    chain: Chain
    market: Market
    order: Order
    link: Link
    url: URL
    payment: Payment
    fromBlock: bigint
    agentOwner: Address | null
  },
): Entry {
  const { chain, market, order, link, url, payment, fromBlock, agentOwner } = parts
  const { authorization } = payment
  return {
    chainId: chain.chainId,
    payer: authorization.from,
    nonce: authorization.nonce,
    salt: payment.salt,
    agentId: order.agentId ?? null,
    agentOwner,
    merchantId: link.terms.merchantId,
    productId: link.terms.productId,
    reviewId: link.terms.reviewId,
    url: url.href,
    query: order.query,
    posted: order.posted,
    header: payment.header,
    token: link.token,
    ...market,
    amount: String(authorization.value),
    validBefore: Number(authorization.validBefore),
    fromBlock: Number(fromBlock),
    key: order.idempotencyKey === undefined ? null : keyHash(order.idempotencyKey),
    signedAt: signedAt(context),
    outcome: null,
  }
}
