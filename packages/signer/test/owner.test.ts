// An owner's whole way through real doors: a chat is linked, caps are set, something is asked for in the chat and confirmed with a button,
// the runner buys it, and the chat is told and reminded until the link ends. Once with Telegram, once with a messenger of one's own.
import { rm } from 'node:fs/promises'
import { until } from '@referrer/service/testing'
import { startTelegram, type Telegram } from '@referrer/telegram-stand-in'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../service/test/http/caller.ts'
import { type Marketplace, PRICE, startMarketplace } from './marketplace.ts'
import { startRunner } from './runner.ts'
import { newStateDir, startSigner } from './signer.ts'
import { noticed, type OwnMessenger, onTelegram, startOwnMessenger, type Talker } from './talkers.ts'

const SECRET = 'a-secret-of-both-directions'
const DAY_MS = 86_400_000
/** The clock of the test chain is a few seconds ahead: it moves on by a second for each block. */
const dayAfter = (days: number) => (days + 0.1) * DAY_MS

let telegram: Telegram
let own: OwnMessenger
let place: Marketplace
let stateDir: string
const now = () => Date.now() + place.m.clock.aheadMs

beforeAll(async () => {
  telegram = await startTelegram()
  own = await startOwnMessenger(SECRET)
  place = await startMarketplace({
    TELEGRAM_BOT_TOKEN: telegram.token,
    TELEGRAM_BOT_NAME: telegram.botName,
    TELEGRAM_API_ROOT: telegram.url,
    CHAT_WEBHOOK_URL: own.url,
    CHAT_WEBHOOK_SECRET: SECRET,
    CHAT_WEBHOOK_LINK: 'https://chat.example/?start={code}',
  })
  stateDir = newStateDir()
})
afterAll(async () => {
  await place?.close()
  await own?.close()
  await telegram?.close()
  await rm(stateDir, { recursive: true, force: true })
})

const owner = () => place.m.market.accounts.buyer
const post = (path: string, body: object = {}) => must(place.m.call('POST', path, { as: owner(), body }))

/** Whether discovery shows the shop's product with its price. It answers only so many questions a second. */
const isOffered = async () => {
  const { status, body } = await place.m.call('GET', '/v1/discover?intent=weather')
  const { products } = status === 200 ? body : { products: [] }
  return products[0]?.price_usdc === Number(PRICE) && products[0].reviews?.length > 0
}

/** Waits for the next message that the bot sends by itself, and until that is recorded: the clock must not jump in between. */
async function told(talker: Talker, count: number) {
  const { sql } = place.m
  const shown = await noticed(talker, count)
  await until(
    async () => (await sql`SELECT FROM market.notices WHERE sending_channel IS NOT NULL`).count === 0,
    'the record of a message',
  )
  return shown
}

const talkers: [name: string, make: () => Talker][] = [
  ['Telegram', () => onTelegram(telegram)],
  ['a messenger of the operator', () => own.talker(place.m.service.url, now)],
]

describe.each(talkers)('with %s', (name, make) => {
  it('a chat is linked, asks for a purchase, hears of it, is reminded, snoozes, and is left alone when it is unlinked', {
    timeout: 240_000,
  }, async () => {
    const { m, agentId } = place
    const talker = make()
    m.clock.aheadMs = 0

    const { code } = await post('/v1/messenger/link/start')
    expect((await talker.say(`/start ${code}`)).text).toContain(owner().address)
    expect(await post('/v1/messenger/link/status')).toMatchObject({ linked: true })
    await post('/v1/spending-limits', { chain_id: m.chainId, daily_cap_usdc: 5_000_000 })

    await until(isOffered, 'the product in discovery, with its price')
    // What has linked it named neither the chat nor the market.
    const refused = await talker.say('/buy weather')
    expect(refused.text).toMatch(/^This chat gets messages only/)
    const signer = await startSigner({ ...place.env, SIGNER_STATE_DIR: stateDir })
    const { commitment, nonce, expiry } = (await place.mcp.call('link_messenger', { agent_id: agentId }))
      .structured
    const { signature } = await signer.must('sign_messenger_link_commitment', { commitment })
    await signer.close()
    const signed = { agent_id: agentId, nonce, expiry, agent_sig: signature }
    const { deep_link } = (await place.mcp.call('link_messenger', signed)).structured
    expect((await talker.say(`/start ${deep_link.split('=').at(-1)}`)).text).toContain(owner().address)
    const offers = await talker.say('/buy weather')
    expect(offers.text).toMatch(/^1\. Weather: 1 USDC, rank 0\.\d\d\n“/)
    expect(offers.buttons).toEqual(['1'])
    const asked = await talker.press('1')
    expect(asked.text).toMatch(
      /^Agent \d+ shall buy Weather for at most 1 USDC\.\nBudget left: \d+(\.\d+)? USDC\.$/,
    )
    expect(asked.buttons).toEqual(['Buy', 'Buy and review', 'Cancel'])
    expect((await talker.press('Buy')).text).toMatch(/^Queued: /)
    const { intents } = await must(m.call('GET', `/v1/intents?agent_id=${agentId}`, { as: owner() }))
    expect(intents[0]).toMatchObject({ status: 'pending', payload: { max_amount: String(PRICE) } })

    const before = await place.balanceOf(owner().address)
    const runner = await startRunner({ ...place.env, SIGNER_STATE_DIR: stateDir }, [
      ...['--agent', String(agentId), '--once'],
    ])
    expect(await runner.ended, runner.said()).toBe(0)
    expect(before - (await place.balanceOf(owner().address))).toBe(PRICE)

    const ping = await told(talker, 1)
    expect(ping.text).toMatch(/^Purchase confirmed: Weather for 1 USDC\./)
    const [, escrowId = ''] = /escrow (\d+)/.exec(ping.text) ?? []

    m.clock.aheadMs = dayAfter(3)
    const reminder = await told(talker, 2)
    expect(reminder.text).toMatch(/^Not reviewed yet: Weather\./)
    expect(reminder.buttons).toContain('Tomorrow')

    const snoozed = await talker.say(`/snooze ${escrowId} 12d`)
    expect(snoozed.text).toMatch(new RegExp(`^I remind you of escrow ${escrowId} again on `))
    m.clock.aheadMs = dayAfter(14.5)
    // On day 14 there would have been a reminder; what was put off to day 15 is the next one.
    const dueAt = async () =>
      (await m.sql`SELECT due_at FROM market.notices WHERE escrow_id = ${escrowId}`)[0]?.due_at.getTime()
    expect((await dueAt()) - now()).toBeGreaterThan(0.3 * DAY_MS)
    expect(talker.notices()).toHaveLength(2)
    m.clock.aheadMs = dayAfter(15)
    expect((await told(talker, 3)).text).toMatch(/^Not reviewed yet: Weather\./)

    expect((await talker.say('/unlink')).text).toMatch(new RegExp(`^Unlinked: ${owner().address}`))
    m.clock.aheadMs = dayAfter(30)
    // The worker has passed over the reminder of day 30 when the next one is that of day 50.
    await until(async () => (await dueAt()) > now() + 19 * DAY_MS, `no reminder of day 30 (${name})`)
    expect(talker.notices()).toHaveLength(3)
  })
})
