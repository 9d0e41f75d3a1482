// What somebody can do with a signature that he has seen: it covers a body and a time, and neither method nor path nor host.
import type { Person } from '@referrer/telegram-stand-in'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answererOf } from '../../src/doors/chat/answer.ts'
import { must, naming, sessionOf, signatureHeaders } from '../http/caller.ts'
import type { TestMarket } from '../http/market.ts'
import { newcomer, type Person as Owner } from '../http/town.ts'
import { type Chats, codeInChat, link, PAGE, somebody, startChats, statusOf, told } from './chats.ts'

const START = '/v1/messenger/link/start'
const CONFIRM = '/v1/messenger/link/confirm'
const UNLINK = '/v1/messenger/link/unlink'
const NOTICES_ONLY = /gets messages only/

let chats: Chats
let m: TestMarket
/** Has an agent. */
let owner: Owner
let attacker: Person

beforeAll(async () => {
  chats = await startChats()
  m = chats.m
})
afterAll(() => chats.close())
beforeEach(async () => {
  owner = await newcomer(m)
  await m.indexed()
  attacker = somebody(chats)
})

const say = (text: string, person = attacker) => told(chats, person, text)
const now = () => Math.floor((Date.now() + m.clock.aheadMs) / 1_000)
/** Whether purchases can be asked for in this chat: there is nothing to buy in this market. */
const mayBuy = async (person = attacker) => {
  const text = await say('/buy weather', person)
  if (NOTICES_ONLY.test(text)) return false
  expect(text).toMatch(/^I found nothing/)
  return true
}
/** The headers of a GET that the owner has made somewhere. */
const seenRead = () => signatureHeaders(owner.owner, '', now())
const queued = async () => {
  const payload = {
    ref_link: 'https://market.test/r/abc',
    max_amount: 1,
    idempotency_key: crypto.randomUUID(),
  }
  const body = { chain_id: m.chainId, agent_id: Number(owner.agentId), type: 'buy_product', payload }
  return (await must(m.call('POST', '/v1/intents', { as: owner.owner, body }))).intent_id as string
}
const statusOfIntents = async () =>
  (await must(m.call('GET', `/v1/intents?agent_id=${owner.agentId}`, { as: owner.owner }))).intents.map(
    ({ status }: { status: string }) => status,
  )

describe('the signature of a GET', () => {
  it('links a chat that gets messages only, and is told so with every attempt to buy', async () => {
    const headers = await seenRead()
    await m.call('GET', `/v1/spending-limits?chain_id=${m.chainId}`, { headers })
    const { code } = await must(m.call('POST', START, { headers }))
    expect(await say(`/start ${code}`)).toMatch(NOTICES_ONLY)
    expect(await say('/status')).toContain(`${owner.owner.address} (messages only)`)
    const answer = await say('/buy weather')
    expect(answer).toMatch(NOTICES_ONLY)
    expect(answer).toMatch(PAGE)
    expect(answer).toContain('link_messenger')
    expect(await mayBuy()).toBe(false)
  })

  it('does not confirm the chat, and withdraws nothing', async () => {
    const { code } = await must(m.call('POST', START, { headers: await seenRead() }))
    await say(`/start ${code}`)
    const id = await queued()
    expect(await m.call('DELETE', `/v1/intents/${id}`, { headers: await seenRead() })).toMatchObject({
      status: 401,
      body: { error: 'unauthorized', detail: expect.stringContaining(`DELETE /v1/intents/${id}`) },
    })
    expect(await statusOfIntents()).toEqual(['pending'])
    expect((await m.call('POST', CONFIRM, { headers: await seenRead() })).status).toBe(400)
    expect(await mayBuy()).toBe(false)
  })

  it('ends a link, and the chat is told', async () => {
    const ann = somebody(chats)
    await link(chats, owner.owner, ann)
    await must(m.call('POST', UNLINK, { headers: await seenRead() }))
    const told = await ann.until((messages) => messages.find(({ text }) => text?.startsWith('Unlinked: ')))
    expect(told.text).toContain(owner.owner.address)
    expect(await statusOf(chats, owner.owner)).toEqual({ linked: false })
    // There is nobody to tell any more.
    m.clock.aheadMs += 1_000
    await must(m.call('POST', UNLINK, { as: owner.owner }))
    expect(ann.messages().filter(({ text }) => text?.startsWith('Unlinked: '))).toHaveLength(1)
  })

  it('opens a session that tells whether a chat is linked, and neither begins nor ends a link', async () => {
    const { token } = await must(m.call('POST', '/v1/auth/session', { headers: await seenRead() }))
    expect(await must(m.call('POST', '/v1/messenger/link/status', { token }))).toEqual({ linked: false })
    for (const path of [START, CONFIRM, UNLINK]) {
      expect((await m.call('POST', path, { token, body: { code: 'x' } })).status, path).toBe(401)
    }
  })

  it('moves no right to buy to another chat', async () => {
    const ann = somebody(chats)
    await link(chats, owner.owner, ann)
    expect(await mayBuy(ann)).toBe(true)
    const { code } = await must(m.call('POST', START, { headers: await seenRead() }))
    await say(`/start ${code}`)
    expect(await mayBuy()).toBe(false)
  })
})

describe('the body and the signature of another POST', () => {
  it('link a chat that gets messages only, and are refused where no body is taken', async () => {
    const body = JSON.stringify({ agent_id: Number(owner.agentId) })
    const headers = await signatureHeaders(owner.owner, body, now())
    const { code } = await must(m.call('POST', START, { headers, body }))
    await say(`/start ${code}`)
    expect(await mayBuy()).toBe(false)
    const id = await queued()
    const token = await sessionOf(m.call, owner.owner)
    for (const [method, path, credentials] of [
      ['DELETE', `/v1/intents/${id}`, { headers }],
      ['DELETE', `/v1/intents/${id}`, { token }],
      ['DELETE', '/v1/auth/session', { token }],
    ] as const) {
      expect(await m.call(method, path, { ...credentials, body }), path).toMatchObject({
        status: 400,
        body: { error: 'invalid request' },
      })
    }
    expect(await statusOfIntents()).toEqual(['pending'])
  })

  it('are refused where the body names another market, route or method', async () => {
    for (const body of [
      { ...naming('POST', START), domain: 'other.test' },
      naming('POST', UNLINK),
      naming('DELETE', START),
      { code: 'x', ...naming('POST', CONFIRM) },
    ]) {
      expect(await m.call('POST', START, { as: owner.owner, body }), JSON.stringify(body)).toMatchObject({
        status: 401,
        body: {
          error: 'unauthorized',
          detail: expect.stringContaining(JSON.stringify(naming('POST', START))),
        },
      })
    }
  })
})

describe('a chat that gets messages only', () => {
  const linkBare = async () => {
    const { code } = await must(m.call('POST', START, { headers: await seenRead() }))
    await say(`/start ${code}`)
  }

  it('may buy once the wallet has named it: with a session, or a body that names the market', async () => {
    const token = await sessionOf(m.call, owner.owner)
    const bare = (code: string) => ({ as: owner.owner, body: { code } })
    const named = (code: string) => ({ as: owner.owner, body: { code, ...naming('POST', CONFIRM) } })
    const inSession = (code: string) => ({ token, body: { code } })
    for (const [ask, isEnough] of [
      [bare, false],
      [named, true],
      [inSession, true],
    ] as const) {
      await must(m.call('POST', UNLINK, { as: owner.owner }))
      await linkBare()
      const [, code = ''] = PAGE.exec(await say('/buy weather')) ?? []
      await must(m.call('POST', CONFIRM, ask(code)))
      expect(await mayBuy()).toBe(isEnough)
      expect((await say('/status')).includes('messages only')).toBe(!isEnough)
    }
    // What was allowed stays so when the same chat is linked again.
    await must(m.call('POST', CONFIRM, bare(await codeInChat(chats, attacker))))
    expect(await mayBuy()).toBe(true)
    await linkBare()
    expect(await mayBuy()).toBe(true)
  })

  it('may buy when a session has asked for its code', async () => {
    const { code } = await must(m.call('POST', START, { token: await sessionOf(m.call, owner.owner) }))
    await say(`/start ${code}`)
    expect(await mayBuy()).toBe(true)
  })

  it('withdraws nothing that was queued from it before', async () => {
    await link(chats, owner.owner, attacker)
    const id = await queued()
    await must(m.call('POST', UNLINK, { as: owner.owner }))
    await linkBare()
    const { context } = m.service
    const channel = context.channels.get('telegram')
    if (!channel) throw new Error('the market has no bot')
    const pressed = { channel, chat: String(attacker.id), text: '', pressed: `w:${id}` }
    expect((await answererOf(context)(pressed))?.text).toMatch(/^Not withdrawn/)
    expect(await statusOfIntents()).toEqual(['pending'])
  })
})
