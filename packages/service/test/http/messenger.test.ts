// The four routes that link a wallet to a chat. What people do in the chat, they do in a stand-in of Telegram.
import { createHash } from 'node:crypto'
import type { Person } from '@referrer/telegram-stand-in'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Service, startService } from '../../src/app/service.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import {
  BOT,
  type Chats,
  codeInChat,
  codeOnWeb,
  link,
  newWallet,
  somebody,
  startChats,
  statusOf,
  told,
} from '../chat/chats.ts'
import { startReplica } from '../oracle/world.ts'
import { type Ask, callerOf, must, sessionOf } from './caller.ts'
import { NO_WORK, type TestMarket } from './market.ts'
import { beginDay } from './town.ts'

const path = (name: string) => `/v1/messenger/link/${name}`
const [START, CONFIRM, STATUS, UNLINK] = ['start', 'confirm', 'status', 'unlink'].map(path) as [
  string,
  string,
  string,
  string,
]
const ALL = [START, CONFIRM, STATUS, UNLINK]
const CODE = /^[\w-]{43}$/
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const TEN_MINUTES = 600_000
const UNKNOWN = 'A'.repeat(43)

let chats: Chats
let m: TestMarket
/** A wallet and a person for each test. */
let owner: LocalAccount
let ann: Person

beforeAll(async () => {
  chats = await startChats({ overrides: NO_WORK })
  m = chats.m
  beginDay(m)
})
afterAll(() => chats.close())
beforeEach(() => {
  owner = newWallet()
  ann = somebody(chats)
})

/** Some of the routes allow five requests a second. */
function post(route: string, ask: Ask = {}) {
  m.clock.aheadMs += 200
  return m.call('POST', route, { as: owner, ...ask })
}
const confirm = (code: string, as = owner) => post(CONFIRM, { as, body: { code } })
const refusal = (status: number, error: string) => ({ status, body: { error } })
const INVALID = refusal(400, 'invalid or expired code')
const LINKED = { linked: true, messenger_username: expect.any(String) }
const isLinked = async (as = owner) => (await statusOf(chats, as)).linked

const rowsOf = (of: LocalAccount) => m.sql<{ chat: string }[]>`
  SELECT chat FROM market.chat_links WHERE owner = ${Buffer.from(of.address.slice(2), 'hex')}`
const hasRow = async (code: string) => {
  const [row] = await m.sql`
    SELECT FROM market.link_codes WHERE code_hash = ${createHash('sha256').update(code).digest()}`
  return row !== undefined
}
/** The body that a route needs. */
const bodyOf = async (route: string) =>
  route === CONFIRM ? { code: await codeInChat(chats, ann) } : undefined

describe('all four routes', () => {
  it.each(ALL)('%s is not there without a messenger [MSG-01]', async (route) => {
    const { config, fetch } = m.service.context
    const without = await startService({ ...config, messenger: undefined }, { ...NO_WORK, fetch })
    try {
      const call = callerOf(without.url)
      expect(await call('POST', route, { as: owner, body: { code: UNKNOWN } })).toMatchObject(
        refusal(404, 'not found'),
      )
      expect((await call('GET', '/healthz')).status).toBe(200)
    } finally {
      await without.stop()
    }
  })

  it.each(ALL)('%s is served for POST alone [MSG-02]', async (route) => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect([404, 405]).toContain((await m.call(method, route, { as: owner })).status)
    }
    expect((await post(route, { body: await bodyOf(route) })).status).toBe(200)
  })

  it.each([
    [START, 'MSG-07'],
    [CONFIRM, 'MSG-08'],
    [STATUS, 'MSG-09'],
    [UNLINK, 'MSG-10'],
  ])('%s is refused to whom it cannot recover [MSG-03, %s]', async (route) => {
    await link(chats, owner, ann)
    const body = { code: await codeInChat(chats, ann) }
    const unsigned = await m.call('POST', route, { body })
    expect(unsigned).toMatchObject(refusal(401, 'unauthorized'))
    const forged = {
      'x-agent-timestamp': String(Math.floor(m.call.clock() / 1_000)),
      'x-agent-signature': '0x12',
    }
    expect(await m.call('POST', route, { body, headers: forged })).toMatchObject(refusal(401, 'unauthorized'))
    expect(await isLinked()).toBe(true)
    expect((await post(route, { body })).status).toBe(200)
  })

  it('are about the wallet that signed, however its address is spelt [MSG-04, MSG-62]', async () => {
    await link(chats, owner, ann)
    expect(await isLinked()).toBe(true)
    expect(await isLinked(newWallet())).toBe(false)
    const token = await sessionOf(m.call, owner)
    expect((await m.call('POST', STATUS, { token })).body.linked).toBe(true)
    const stored = await m.sql<{ owner: string }[]>`
      SELECT '0x' || encode(owner, 'hex') AS owner FROM market.chat_links WHERE chat = ${String(ann.id)}`
    expect([...stored]).toEqual([{ owner: owner.address.toLowerCase() }])
  })

  it('read no owner, agent or chat from the body [MSG-05]', async () => {
    const other = newWallet()
    const named = (of: LocalAccount) => ({
      owner: of.address,
      wallet: of.address,
      agent_id: 0,
      chat: '1',
      address: of.address,
    })
    const { code } = (await post(START, { body: named(other) })).body
    expect(await told(chats, ann, `/start ${code}`)).toContain(owner.address)
    expect([await isLinked(), await isLinked(other)]).toEqual([true, false])
    expect((await post(STATUS, { as: other, body: named(owner) })).body).toEqual({ linked: false })
    expect((await post(UNLINK, { as: other, body: named(owner) })).body).toEqual({ linked: false })
    expect(await isLinked()).toBe(true)
    const body = { ...named(owner), code: await codeInChat(chats, ann) }
    expect((await post(CONFIRM, { as: other, body })).status).toBe(200)
    expect(await isLinked(other)).toBe(true)
  })

  it.each(ALL)('%s does not look at chain_id [MSG-06]', async (route) => {
    for (const chainId of ['999999999', 'x', '']) {
      const asked = { as: newWallet(), body: await bodyOf(route) }
      expect((await post(`${route}?chain_id=${chainId}`, asked)).status).toBe(200)
    }
  })

  it('name no brand in their paths and fields [CONV-19]', async () => {
    const started = await must(post(START))
    const confirmed = await must(confirm(await codeInChat(chats, ann)))
    const status = await must(post(STATUS))
    const fields = [started, confirmed, status, await must(post(UNLINK))].flatMap(Object.keys)
    expect(fields).toContain('messenger_username')
    expect(
      [...ALL, ...fields].filter((name) => /telegram|whatsapp|signal|discord|slack/i.test(name)),
    ).toEqual([])
    const { paths } = await must(m.call('GET', '/openapi.json'))
    expect(Object.keys(paths).filter((route) => route.includes('/link/'))).toEqual(ALL)
  })
})

describe('start', () => {
  it('answers with a link, its code and its end [MSG-11, MSG-12, MSG-13, MSG-14, MSG-15]', async () => {
    const { status, body } = await post(START)
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['code', 'deep_link', 'expires_at'])
    expect(body.code).toMatch(CODE)
    expect(Buffer.from(body.code, 'base64url')).toHaveLength(32)
    expect(body.deep_link).toBe(`https://t.me/${BOT}?start=${body.code}`)
    expect(body.expires_at).toMatch(RFC3339)
    expect(await told(chats, ann, `/start ${body.code}`)).toContain(owner.address)
  })

  it('gives ten minutes, or what the deployment sets [MSG-16]', async () => {
    const { config, fetch } = m.service.context
    const nowMs = m.call.clock()
    const messenger = config.messenger && { ...config.messenger, codeSeconds: 60 }
    const short = await startService({ ...config, messenger }, { ...NO_WORK, fetch, clock: () => nowMs })
    const usual = await startReplica(m, { ...NO_WORK, clock: () => nowMs })
    const lifetime = async ({ url }: Service, timestamp: number) =>
      Date.parse((await must(callerOf(url)('POST', START, { as: owner, timestamp }))).expires_at) - nowMs
    try {
      const second = Math.floor(nowMs / 1_000)
      expect(await lifetime(usual, second)).toBe(TEN_MINUTES)
      expect(await lifetime(short, second - 1)).toBe(60_000)
    } finally {
      await Promise.all([short.stop(), usual.stop()])
    }
  })

  it('makes a new code each time, and the earlier ones stay valid [MSG-17]', async () => {
    const codes = [
      await codeOnWeb(chats, owner),
      await codeOnWeb(chats, owner),
      await codeOnWeb(chats, owner),
    ]
    expect(new Set(codes).size).toBe(3)
    for (const code of codes) {
      expect(await told(chats, ann, `/start ${code}`)).toContain(owner.address)
    }
  })

  it('makes a hundred codes of which no two are the same [MSG-14, MSG-61]', async () => {
    const codes: string[] = []
    for (let at = 0; at < 100; at += 1) codes.push((await must(post(START, { as: newWallet() }))).code)
    expect(new Set(codes).size).toBe(100)
    expect(codes.filter((code) => !CODE.test(code))).toEqual([])
  })

  it('lets a client make so many a day, with whatever wallets', async () => {
    const ofCodes = m.sql`what = 'link codes made by this client'`
    const [{ bytes }] = await m.sql<[{ bytes: bigint }]>`SELECT bytes FROM market.written WHERE ${ofCodes}`
    await m.sql`UPDATE market.written SET bytes = 2 * 1048576 - 256 WHERE ${ofCodes}`
    expect((await post(START, { as: newWallet() })).status).toBe(200)
    expect((await post(START, { as: newWallet() })).status).toBe(429)
    await m.sql`UPDATE market.written SET bytes = ${bytes} WHERE ${ofCodes}`
  })

  it('says when no code could be stored [MSG-18]', async () => {
    await m.withoutTable('market.link_codes', async () => {
      expect(await post(START)).toMatchObject(refusal(500, 'mint failed'))
    })
    expect((await post(START)).status).toBe(200)
  })
})

describe('confirm', () => {
  it.each<[string, unknown]>([
    ['without a body [MSG-19]', undefined],
    ['without a code [MSG-19]', {}],
    ['with null [MSG-19]', { code: null }],
    ['with a number [MSG-19]', { code: 5 }],
    ['with an empty code [MSG-20]', { code: '' }],
  ])('%s is refused', async (_, body) => {
    const answer = await post(CONFIRM, { body })
    expect(answer).toMatchObject(refusal(400, 'code required'))
    expect(await isLinked()).toBe(false)
  })

  it('refuses a code that nobody was given, and what is no code [MSG-21]', async () => {
    for (const code of [UNKNOWN, 'x', `${UNKNOWN}A`, ' ', '\u0000', 'x'.repeat(10_000)]) {
      expect(await confirm(code)).toMatchObject(INVALID)
    }
    expect(await isLinked()).toBe(false)
  })

  it('refuses a code from the moment of its end [MSG-22]', async () => {
    const [code, other] = [await codeInChat(chats, ann), await codeInChat(chats, somebody(chats))]
    m.clock.aheadMs += TEN_MINUTES - 60_000
    expect((await confirm(other)).status).toBe(200)
    m.clock.aheadMs += 60_000
    expect(await confirm(code)).toMatchObject(INVALID)
    expect((await rowsOf(owner)).length).toBe(1)
  })

  it('takes a code once [MSG-23]', async () => {
    const code = await codeInChat(chats, ann)
    expect((await confirm(code)).status).toBe(200)
    expect(await confirm(code)).toMatchObject(INVALID)
    const other = newWallet()
    expect(await confirm(code, other)).toMatchObject(INVALID)
    expect([await isLinked(), await isLinked(other)]).toEqual([true, false])
  })

  it('takes a code once when a hundred wallets bring it at the same moment [MSG-23]', async () => {
    const code = await codeInChat(chats, ann)
    const rivals = Array.from({ length: 100 }, newWallet)
    const answers = await Promise.all(rivals.map((as) => confirm(code, as)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(
      answers.filter(({ status, body }) => status === 400 && body.error === INVALID.body.error),
    ).toHaveLength(99)
    const winner = rivals[answers.findIndex(({ status }) => status === 200)]
    const bound = await m.sql<{ owner: string }[]>`
      SELECT '0x' || encode(owner, 'hex') AS owner FROM market.chat_links WHERE chat = ${String(ann.id)}`
    expect([...bound]).toEqual([{ owner: winner?.address.toLowerCase() }])
  })

  it('refuses a code that was made on the web, which the chat still takes [MSG-24]', async () => {
    const code = await codeOnWeb(chats, owner)
    expect(await confirm(code)).toMatchObject(INVALID)
    expect(await isLinked()).toBe(false)
    expect(await told(chats, ann, `/start ${code}`)).toContain(owner.address)
  })

  it('answers with the name in the messenger [MSG-26]', async () => {
    const { status, body } = await confirm(await codeInChat(chats, ann))
    expect([status, body]).toEqual([200, { linked: true, messenger_username: ann.user.username }])
    expect(await isLinked()).toBe(true)
  })

  it('leaves the name out when there is none, or it cannot be read, and has linked the wallet [MSG-27, MSG-30 otherwise]', async () => {
    const repair = chats.telegram.fail(
      'getChat',
      { error_code: 500, description: 'Internal Server Error' },
      100,
    )
    const { status, body } = await confirm(await codeInChat(chats, ann))
    expect([status, body]).toEqual([200, { linked: true }])
    expect(Object.keys(await statusOf(chats, owner)).sort()).toEqual(['linked', 'linked_at'])
    repair()
    expect(await statusOf(chats, owner)).toMatchObject(LINKED)
    const nameless = chats.telegram.user({ firstName: 'Ben' })
    const other = newWallet()
    expect((await confirm(await codeInChat(chats, nameless), other)).body).toEqual({ linked: true })
    expect(await isLinked(other)).toBe(true)
  })

  it('leaves the code as it was when the link could not be written [MSG-28]', async () => {
    const code = await codeInChat(chats, ann)
    await m.withoutTable('market.chat_links', async () => {
      expect(await confirm(code)).toMatchObject(refusal(500, 'internal error'))
    })
    expect(await isLinked()).toBe(false)
    expect(await confirm(code)).toMatchObject({ status: 200, body: LINKED })
    expect(await confirm(code)).toMatchObject(INVALID)
  })
})

describe('status', () => {
  it('of a wallet without a chat is one field [MSG-29]', async () => {
    const { status, body } = await post(STATUS)
    expect([status, body]).toEqual([200, { linked: false }])
  })

  it('of a linked wallet tells the name and the time [MSG-31, MSG-30 otherwise]', async () => {
    const from = m.call.clock()
    await link(chats, owner, ann)
    const { status, body } = await post(STATUS)
    expect([status, body]).toEqual([
      200,
      { linked: true, messenger_username: ann.user.username, linked_at: expect.stringMatching(RFC3339) },
    ])
    expect(Date.parse(body.linked_at)).toBeGreaterThanOrEqual(from)
    expect(Date.parse(body.linked_at)).toBeLessThanOrEqual(m.call.clock())
  })

  it('says when it could not be read [MSG-32]', async () => {
    await m.withoutTable('market.chat_links', async () => {
      expect(await post(STATUS)).toMatchObject(refusal(500, 'status failed'))
    })
    expect((await post(STATUS)).status).toBe(200)
  })
})

describe('unlink', () => {
  it('answers the same whether or not there was a link, of which nothing is left [MSG-33, MSG-34, MSG-36]', async () => {
    await link(chats, owner, ann)
    for (let time = 0; time < 3; time += 1) {
      const { status, body } = await post(UNLINK)
      expect([status, body]).toEqual([200, { linked: false }])
      expect((await post(STATUS)).body).toEqual({ linked: false })
      expect(await rowsOf(owner)).toHaveLength(0)
    }
    expect(await told(chats, ann, '/status')).not.toContain(owner.address)
  })

  it('says when it could not be done, and does it the next time [MSG-35]', async () => {
    await link(chats, owner, ann)
    await m.withoutTable('market.chat_links', async () => {
      expect(await post(UNLINK)).toMatchObject(refusal(500, 'unlink failed'))
    })
    expect(await isLinked()).toBe(true)
    expect((await post(UNLINK)).status).toBe(200)
    expect(await isLinked()).toBe(false)
  })
})

describe('a wallet', () => {
  it('has one chat: a new one takes the place of the old one [MSG-37, MSG-38, MSG-62]', async () => {
    const ben = somebody(chats)
    await link(chats, owner, ann)
    expect((await confirm(await codeInChat(chats, ben))).status).toBe(200)
    expect([...(await rowsOf(owner))]).toEqual([{ chat: String(ben.id) }])
    expect(await statusOf(chats, owner)).toMatchObject({
      linked: true,
      messenger_username: ben.user.username,
    })
    expect(await told(chats, ben, '/status')).toContain(owner.address)
    expect(await told(chats, ann, '/status')).not.toContain(owner.address)
    expect((await confirm(await codeInChat(chats, ann))).body.messenger_username).toBe(ann.user.username)
    expect([...(await rowsOf(owner))]).toEqual([{ chat: String(ann.id) }])
  })

  it('may share a chat with others [MSG-39]', async () => {
    const other = newWallet()
    expect((await confirm(await codeInChat(chats, ann), owner)).status).toBe(200)
    expect((await confirm(await codeInChat(chats, ann), other)).status).toBe(200)
    const shown = await told(chats, ann, '/status')
    expect([shown.includes(owner.address), shown.includes(other.address)]).toEqual([true, true])
    expect((await post(UNLINK)).status).toBe(200)
    expect([await isLinked(), await isLinked(other)]).toEqual([false, true])
  })
})

it('forgets codes in the background when their time is over, and no others [MSG-40]', async () => {
  const [old, fresh] = [await codeOnWeb(chats, owner), await codeOnWeb(chats, owner)]
  const ofChat = await codeInChat(chats, ann)
  const past = [old, ofChat].map((code) => createHash('sha256').update(code).digest())
  await m.sql`UPDATE market.link_codes SET expires_at = now() - INTERVAL '1 second' WHERE code_hash = ANY(${past})`
  const { config, fetch } = m.service.context
  const working = await startService(config, { fetch, clock: m.call.clock })
  try {
    await until(async () => !(await hasRow(old)), 'the old code gone')
    expect([await hasRow(ofChat), await hasRow(fresh)]).toEqual([false, true])
  } finally {
    await working.stop()
  }
})
