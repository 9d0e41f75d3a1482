// A market whose owners have webhooks. Tests make and send the messages themselves, so that they know when nothing more is to come.
import type { LocalAccount } from 'viem'
import { announce } from '../../src/derived/webhooks/announce.ts'
import { webhooksFollower } from '../../src/derived/webhooks/follow.ts'
import { claim, sendTo } from '../../src/derived/webhooks/send.ts'
import type { Context } from '../../src/kit/context.ts'
import { enableWebhook } from '../../src/market/webhooks/store.ts'
import { must } from '../http/caller.ts'
import { startTestMarket, type TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import { newcomer, newProduct, type Person, quiet, type Review, write } from '../http/town.ts'
import { mineBlocks } from '../oracle/world.ts'
import { type Receiver, startReceiver, verified } from './receiver.ts'

export const CONFIRMATIONS = 4
export const WEBHOOK_ENV = { WEBHOOK_KEYS: 'ab'.repeat(32), ALLOW_PRIVATE_HOSTS: 'true' }

export interface World {
  m: TestMarket
  context: Context
  receiver: Receiver
  merchantId: bigint
  /** A review through which people buy. */
  link: Review
  close(): Promise<void>
}

/** Only the follower of webhooks works; `deliver` does what the worker does. */
export async function startWorld(): Promise<World> {
  const receiver = await startReceiver()
  const m = await startTestMarket({
    confirmations: CONFIRMATIONS,
    env: WEBHOOK_ENV,
    overrides: { work: { schedules: [], followers: [webhooksFollower] } },
  })
  // The first identity has the id 0 and must not be the merchant.
  const author = await newcomer(m)
  const merchantId = await openRecorded(m)
  const link = await write(m, author, await newProduct({ m, merchantId }))
  // Otherwise this review could be followed when there is a webhook already, and be told to it.
  await quiet(m)
  const close = async () => {
    await m.close()
    await receiver.close()
  }
  return { m, context: m.service.context, receiver, merchantId, link, close }
}

export interface Hook {
  id: string
  secret: string
  path: string
  owner: LocalAccount
}

let hooks = 0

/** A new webhook of a wallet, with a path of its own at the receiver, which has answered no test yet. */
export async function newUntested(
  { m, receiver }: Pick<World, 'm' | 'receiver'>,
  owner: LocalAccount,
  more: object = {},
): Promise<Hook> {
  hooks += 1
  const path = `/hook/${hooks}`
  const body = { url: receiver.url + path, ...more }
  const { webhook_id: id, secret } = await must(m.call('POST', '/v1/webhooks', { as: owner, body }))
  return { id, secret, path, owner }
}

/** One that is enabled, as if a test had been answered: a wallet may not make many. */
export async function newHook(
  world: Pick<World, 'm' | 'receiver'>,
  owner: LocalAccount,
  more: object = {},
): Promise<Hook> {
  const hook = await newUntested(world, owner, more)
  await enableWebhook(world.m.sql, hook.id)
  return hook
}

/** Makes messages of what is confirmed, as the chain is now. */
export async function announceAll({ m, context }: Pick<World, 'm' | 'context'>): Promise<void> {
  await quiet(m)
  for (const chain of context.chains.values()) {
    let after: bigint | undefined
    do after = await announce(context, chain, after)
    while (after !== undefined)
  }
}

/** Sends until nothing more is due. */
export async function sendAll({ context }: Pick<World, 'context'>): Promise<void> {
  for (;;) {
    const claimed = await claim(context, 100)
    if (claimed.length === 0) return
    await Promise.all(claimed.map((one) => sendTo(context, one)))
  }
}

/** Confirms everything, makes the messages and sends them. */
export async function deliver(world: World): Promise<void> {
  await mineBlocks(world.m, CONFIRMATIONS)
  await announceAll(world)
  await sendAll(world)
}

/** The verified messages that arrived at a webhook, in this order. */
export const messagesOf = ({ receiver }: Pick<World, 'receiver'>, { path, secret }: Hook) =>
  receiver.at(path).map((got) => verified(secret, got))

export const typesOf = (world: Pick<World, 'receiver'>, hook: Hook) =>
  messagesOf(world, hook).map(({ type }) => type)

export const deliveriesOf = async ({ m }: Pick<World, 'm'>, { id, owner }: Hook) =>
  (await must(m.call('GET', `/v1/webhooks/${id}/deliveries`, { as: owner }))).deliveries

/** How the list shows a webhook. */
export const shownOf = async ({ m }: Pick<World, 'm'>, { id, owner }: Hook) =>
  (await must(m.call('GET', '/v1/webhooks', { as: owner }))).webhooks.find(
    ({ webhook_id }: { webhook_id: string }) => webhook_id === id,
  )

/** A person with gas, money and an agent that is in the records. */
export async function newPerson({ m }: Pick<World, 'm'>): Promise<Person> {
  const person = await newcomer(m)
  await m.indexed()
  return person
}
