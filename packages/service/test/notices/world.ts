// A market whose owners are linked to chats of a messenger that the tests hold. Tests send what is due themselves, so that they know when
// nothing more is to come.
import type { EscrowDeposit } from '@referrer/contracts/local'
import { noticesFollower } from '../../src/derived/notices/follow.ts'
import { type Pauses, sendDue } from '../../src/derived/notices/send.ts'
import type { Channel, Delivery, Message } from '../../src/kit/channel.ts'
import type { Context } from '../../src/kit/context.ts'
import { mintForChat } from '../../src/market/messenger/operations.ts'
import { must } from '../http/caller.ts'
import { startTestMarket, type TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import { newcomer, newProduct, type Person, quiet, type Review } from '../http/town.ts'
import { writeWithCashback } from '../oracle/world.ts'

export const DAY_MS = 86_400_000

export interface Arrived {
  chat: string
  message: Message
  key: string
}

/** A messenger that keeps what arrives. */
export class TestChannel implements Channel {
  readonly arrived: Arrived[] = []
  /** Also those that did not arrive. */
  readonly tried: Arrived[] = []
  readonly name: string
  readonly deduplicates: boolean
  mostAttempts = Number.POSITIVE_INFINITY
  /** What becomes of the next messages to a chat; afterwards they are sent. */
  readonly #next = new Map<string, Delivery[]>()
  #isHeld: Promise<void> | undefined

  constructor(name: string, { deduplicates = false } = {}) {
    this.name = name
    this.deduplicates = deduplicates
  }

  answer(chat: string, ...deliveries: Delivery[]): void {
    this.#next.set(chat, deliveries)
  }

  /** Messages arrive and are not answered until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#isHeld = promise
    return () => {
      this.#isHeld = undefined
      resolve()
    }
  }

  deepLink(code: string): string {
    return `https://chat.test/${code}`
  }

  async send(chat: string, message: Message, key: string): Promise<Delivery> {
    this.tried.push({ chat, message, key })
    const delivery = this.#next.get(chat)?.shift() ?? { state: 'sent' }
    if (delivery.state === 'sent' || delivery.state === 'unsure') this.arrived.push({ chat, message, key })
    await this.#isHeld
    return delivery
  }

  async identify(): Promise<undefined> {}
}

export const MESSENGER_ENV = {
  CHAT_WEBHOOK_URL: 'http://127.0.0.1:9/',
  CHAT_WEBHOOK_SECRET: 'not-used-by-these-tests',
  CHAT_WEBHOOK_LINK: 'https://chat.test/{code}',
}

export interface World<C extends Channel = Channel> {
  m: TestMarket
  context: Context
  /** Has no idempotency keys. */
  plain: C
  /** Drops a message whose key it knows. */
  keyed: C
  /** A review through which people buy, with cashback. */
  link: Review
  merchantId: bigint
}

export const startTestWorld = (): Promise<World<TestChannel>> =>
  startWorld({ plain: new TestChannel('plain'), keyed: new TestChannel('keyed', { deduplicates: true }) })

/** Only the follower of notices works; `sendAll` does what the worker does. */
export async function startWorld<C extends Channel>({
  plain,
  keyed,
}: Pick<World<C>, 'plain' | 'keyed'>): Promise<World<C>> {
  const m = await startTestMarket({
    // More blocks than a test removes.
    confirmations: 20,
    env: MESSENGER_ENV,
    overrides: {
      channels: new Map<string, Channel>([
        ['plain', plain],
        ['keyed', keyed],
      ]),
      work: { schedules: [], followers: [noticesFollower] },
    },
  })
  const merchantId = await openRecorded(m)
  const link = await newLink({ m, merchantId })
  return { m, context: m.service.context, plain, keyed, link, merchantId }
}

/** A review of a new product: its first buyers need not vote before they review it. */
export async function newLink({ m, merchantId }: Pick<World, 'm' | 'merchantId'>): Promise<Review> {
  return writeWithCashback(m, await newcomer(m), await newProduct({ m, merchantId }))
}

let chats = 0

/** Links a wallet to a new chat, through the route. */
export async function linkChat(
  { m, context }: Pick<World, 'm' | 'context'>,
  { owner }: Pick<Person, 'owner'>,
  channel = 'plain',
  chat = `chat ${++chats}`,
): Promise<string> {
  const { url } = await mintForChat(context, { channel, chat })
  const code = new URL(url).searchParams.get('code')
  await must(m.call('POST', '/v1/messenger/link/confirm', { as: owner, body: { code } }))
  return chat
}

/** A person with an agent, and the chat of its wallet. */
export async function newLinked(world: World, channel = 'plain'): Promise<Person & { chat: string }> {
  world.m.clock.aheadMs = 0
  const person = await newcomer(world.m)
  await world.m.indexed()
  return { ...person, chat: await linkChat(world, person, channel) }
}

/** When the purchase was made. */
export async function madeAt(
  { m }: Pick<World, 'm'>,
  { nonce }: Pick<EscrowDeposit, 'nonce'>,
): Promise<number> {
  const [row] = await m.sql<{ deposited_at: Date }[]>`
    SELECT deposited_at FROM chain.escrows WHERE nonce = ${Buffer.from(nonce.slice(2), 'hex')}`
  if (!row) throw new Error('the purchase is not in the records')
  return row.deposited_at.getTime()
}

/** Sets the clock of the service to so many days after a purchase. */
export async function goTo(world: Pick<World, 'm'>, deposit: EscrowDeposit, days: number): Promise<void> {
  world.m.clock.aheadMs = (await madeAt(world, deposit)) + days * DAY_MS - Date.now()
}

/** Waits until all changes are followed, then sends until nothing more is due. */
export async function sendAll(
  { m, context }: Pick<World, 'm' | 'context'>,
  pauses: Pauses = new Map(),
): Promise<void> {
  await quiet(m)
  while ((await sendDue(context, pauses)) > 0);
}

/** The first words of what a chat got. */
export const toldTo = ({ arrived }: TestChannel, of: string): string[] =>
  arrived.filter(({ chat }) => chat === of).map(({ message }) => message.text.split(':')[0] ?? '')

export const PING = 'Purchase confirmed'
export const REMINDER = 'Not reviewed yet'
