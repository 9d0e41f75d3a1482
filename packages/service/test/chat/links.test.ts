// What owners say to the bot to link their wallets to a chat, and to end links.
import type { Person } from '@referrer/telegram-stand-in'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { NO_WORK, newAgent, type TestMarket } from '../http/market.ts'
import { connectMcp } from '../mcp/client.ts'
import { inTwoSteps } from '../mcp/two-steps.ts'
import {
  ask,
  type Chats,
  codeInChat,
  codeOnWeb,
  link,
  newWallet,
  PAGE,
  somebody,
  startChats,
  statusOf,
  told,
} from './chats.ts'

const INVALID = /invalid or expired/
const NONE = /No wallet is linked/

let chats: Chats
let m: TestMarket
/** A wallet and a person for each test. */
let owner: LocalAccount
let ann: Person

beforeAll(async () => {
  chats = await startChats({ overrides: NO_WORK })
  m = chats.m
})
afterAll(() => chats.close())
beforeEach(() => {
  owner = newWallet()
  ann = somebody(chats)
})

const say = (text: string, person = ann) => told(chats, person, text)
const isLinked = async (of = owner) => (await statusOf(chats, of)).linked
const confirm = (code: string, as = owner) =>
  m.call('POST', '/v1/messenger/link/confirm', { as, body: { code } })
/** The codes that wait in a chat. */
const codesOf = (person: Person) => m.sql<{ code: string }[]>`
  SELECT code FROM market.link_codes WHERE chat = ${String(person.id)}`

/** Wallets whose addresses begin with the same `digits` hex digits. */
function alike(digits: number): [LocalAccount, LocalAccount] {
  const seen = new Map<string, LocalAccount>()
  for (;;) {
    const wallet = newWallet()
    const beginning = wallet.address.slice(2, 2 + digits).toLowerCase()
    const other = seen.get(beginning)
    if (other) return [other, wallet]
    seen.set(beginning, wallet)
  }
}

describe('bare /start', () => {
  it('makes a code and gives the page on which the wallet signs for it [MSG-41, MSG-42]', async () => {
    expect(await codesOf(ann)).toHaveLength(0)
    const [, code = ''] = PAGE.exec(await say('/start')) ?? []
    expect([...(await codesOf(ann))]).toEqual([{ code }])
    expect((await confirm(code)).status).toBe(200)
    expect(await isLinked()).toBe(true)
    expect(await say('/status')).toContain(owner.address)
  })

  it('gives the same code until it is used or over [MSG-43]', async () => {
    const first = await codeInChat(chats, ann)
    expect(await codeInChat(chats, ann)).toBe(first)
    m.clock.aheadMs += 540_000
    expect(await codeInChat(chats, ann)).toBe(first)
    m.clock.aheadMs += 60_000
    const second = await codeInChat(chats, ann)
    expect(second).not.toBe(first)
    expect(await codesOf(ann)).toHaveLength(1)
    expect((await confirm(first)).status).toBe(400)
    expect((await confirm(second)).status).toBe(200)
    expect(await codeInChat(chats, ann)).not.toBe(second)
  })

  it('gives each chat a code of its own', async () => {
    const ben = somebody(chats)
    const codes = [await codeInChat(chats, ann), await codeInChat(chats, ben)]
    expect(new Set(codes).size).toBe(2)
    await confirm(codes[1] ?? '')
    expect(await say('/status', ben)).toContain(owner.address)
    expect(await say('/status', ann)).toMatch(NONE)
  })
})

describe('/start with a code', () => {
  it('links the wallet that made the code, and names it [MSG-44, MSG-45]', async () => {
    const code = await codeOnWeb(chats, owner)
    expect(await isLinked()).toBe(false)
    expect(await say(`/start ${code}`)).toContain(owner.address)
    expect(await statusOf(chats, owner)).toMatchObject({
      linked: true,
      messenger_username: ann.user.username,
    })
  })

  it('of the tool links the wallet that owns the agent, by its deep link [MSG-60]', async () => {
    const { reviewer } = m.market.accounts
    const agentId = await newAgent(m, reviewer)
    const mcp = await connectMcp(m)
    try {
      const { structured } = await inTwoSteps(mcp, 'link_messenger', reviewer, { agent_id: Number(agentId) })
      const { searchParams } = new URL(structured.deep_link)
      expect(await say(`/start ${searchParams.get('start')}`)).toContain(reviewer.address)
      expect(await isLinked(reviewer)).toBe(true)
    } finally {
      await mcp.close()
    }
  })

  it('takes no code that was made in a chat, this one or another, and leaves it as it was [MSG-25]', async () => {
    const code = await codeInChat(chats, ann)
    expect(await say(`/start ${code}`)).toMatch(INVALID)
    expect(await say(`/start ${code}`, somebody(chats))).toMatch(INVALID)
    expect((await confirm(code)).status).toBe(200)
  })

  it('takes a code once, until its time is over, and none that nobody was given', async () => {
    const [code, late] = [await codeOnWeb(chats, owner), await codeOnWeb(chats, newWallet())]
    expect(await say(`/start ${code}`)).toContain(owner.address)
    for (const used of [code, 'A'.repeat(43), 'x', `${code} ${code}`]) {
      expect(await say(`/start ${used}`)).toMatch(INVALID)
    }
    m.clock.aheadMs += 600_000
    expect(await say(`/start ${late}`)).toMatch(INVALID)
    expect(await say('/status')).toContain(owner.address)
  })

  it('links once when two chats send it at the same moment', async () => {
    const ben = somebody(chats)
    const code = await codeOnWeb(chats, owner)
    const answers = await Promise.all([say(`/start ${code}`, ann), say(`/start ${code}`, ben)])
    expect(answers.filter((text) => text.includes(owner.address))).toHaveLength(1)
    expect(answers.filter((text) => INVALID.test(text))).toHaveLength(1)
    const winner = answers[0]?.includes(owner.address) ? ann : ben
    expect(await statusOf(chats, owner)).toMatchObject({ messenger_username: winner.user.username })
  })

  it('leaves the code as it was when the link could not be written', async () => {
    const code = await codeOnWeb(chats, owner)
    await m.sql`ALTER TABLE market.chat_links ADD CONSTRAINT broken CHECK (false) NOT VALID`
    try {
      expect(await say(`/start ${code}`)).toContain('went wrong')
    } finally {
      await m.sql`ALTER TABLE market.chat_links DROP CONSTRAINT broken`
    }
    expect(await isLinked()).toBe(false)
    expect(await say(`/start ${code}`)).toContain(owner.address)
  })

  it('is answered when the database is back, if it was away', async () => {
    const code = await codeOnWeb(chats, owner)
    const polls = () => chats.telegram.calls.filter(({ method }) => method === 'getUpdates').length
    await m.withoutTable('market.chat_links', async () => {
      const before = polls()
      ann.say(`/start ${code}`)
      await until(async () => polls() > before + 1, 'a message that could not be handled, asked for again')
    })
    await ann.until((messages) =>
      messages.some(({ from, text }) => from.is_bot && text?.includes(owner.address)),
    )
    expect(await isLinked()).toBe(true)
  })

  it('moves a wallet that has another chat, without a complaint, and tells the former chat [MSG-37, MSG-38]', async () => {
    const ben = somebody(chats)
    await link(chats, owner, ann)
    expect(await say(`/start ${await codeOnWeb(chats, owner)}`, ben)).toContain(owner.address)
    await ann.until((messages) => messages.find(({ text }) => text?.includes('now linked to another chat')))
    expect(await say('/status', ben)).toContain(owner.address)
    expect(await say('/status', ann)).toMatch(NONE)
    expect(await say(`/unlink ${owner.address}`, ann)).toMatch(NONE)
    expect(await statusOf(chats, owner)).toMatchObject({
      linked: true,
      messenger_username: ben.user.username,
    })
  })
})

describe('/status', () => {
  it('names the wallets of this chat, and of no other [MSG-39, MSG-46]', async () => {
    expect(await say('/status')).toMatch(NONE)
    const [second, foreign] = [newWallet(), newWallet()]
    await link(chats, owner, ann)
    await link(chats, second, ann)
    await link(chats, foreign, somebody(chats))
    const shown = await say('/status')
    expect(shown.match(/0x[0-9a-fA-F]{40}/g)).toEqual([owner.address, second.address])
  })
})

describe('/help', () => {
  it('tells every command, as the menu of the chat does, and none about limits [MSG-47, MSG-59 otherwise]', async () => {
    const shown = await say('/help')
    const names = [...shown.matchAll(/^\/(\w+)/gm)].map(([, name]) => name)
    expect(names).toEqual(expect.arrayContaining(['start', 'status', 'unlink', 'buy', 'help']))
    expect(
      chats.telegram
        .commands()
        .map(({ command }) => command)
        .sort(),
    ).toEqual([...names].sort())
    expect(names.filter((name) => /cap|limit|budget|spend|allow/i.test(String(name)))).toEqual([])
  })

  it('is what one gets for anything else, in whatever case and with the name of the bot', async () => {
    const help = await say('/help')
    for (const text of ['/HELP', '/help@referrer_test_bot', '/help me']) expect(await say(text)).toBe(help)
    for (const text of ['hello', '/nothing', '/', 'start', '/start2', '💸']) {
      expect(await say(text)).toContain(help)
    }
  })
})

describe('spending limits', () => {
  it('are changed by no command that one would try, and shown by none without a purchase [MSG-59 otherwise]', async () => {
    await link(chats, owner, ann)
    const caps = {
      chain_id: m.chainId,
      per_tx_cap_usdc: 7_123_456,
      daily_cap_usdc: 8_123_456,
      total_cap_usdc: 9_123_456,
    }
    const set = (await m.call('POST', '/v1/spending-limits', { as: owner, body: caps })).body
    const commands = [
      ...new Set([
        ...chats.telegram.commands().map(({ command }) => command),
        'limits',
        'cap',
        'caps',
        'budget',
      ]),
    ]
    for (const command of commands) {
      for (const words of ['', ' 1000', ' daily_cap_usdc 1000']) {
        const shown = await say(`/${command}${words}`)
        expect(shown).not.toMatch(/[789][.,]?123/)
        // A command that unlinks the wallet must not end the test early.
        if (!(await isLinked())) await link(chats, owner, ann)
      }
    }
    const path = `/v1/spending-limits?chain_id=${m.chainId}`
    expect((await m.call('GET', path, { as: owner })).body).toEqual(set)
  })
})

describe('/unlink', () => {
  it('ends the link of the only wallet [MSG-48]', async () => {
    await link(chats, owner, ann)
    expect(await say('/unlink')).toContain(owner.address)
    expect(await isLinked()).toBe(false)
  })

  it('does nothing without a link, and says so plainly [MSG-50]', async () => {
    expect(await say('/unlink')).toMatch(NONE)
    await link(chats, owner, ann)
    expect(await say('/unlink')).toContain(owner.address)
    for (const text of ['/unlink', '/unlink', `/unlink ${owner.address}`])
      expect(await say(text)).toMatch(NONE)
  })

  it('of several wallets needs an address, or a beginning that only one has [MSG-49]', async () => {
    const [one, two] = alike(2)
    for (const wallet of [one, two, owner]) await link(chats, wallet, ann)
    const linked = () => Promise.all([one, two, owner].map((wallet) => isLinked(wallet)))
    const shared = one.address.slice(0, 4)
    for (const text of [
      '/unlink',
      '/unlink 0x',
      `/unlink ${shared}`,
      `/unlink ${newWallet().address}`,
      '/unlink %',
      '/unlink _',
    ]) {
      await say(text)
      expect(await linked()).toEqual([true, true, true])
    }
    const unique = Array.from({ length: 40 }, (_, at) => one.address.slice(0, 4 + at)).find(
      (beginning) =>
        ![two, owner].some(({ address }) => address.toLowerCase().startsWith(beginning.toLowerCase())),
    )
    expect(await say(`/unlink ${unique?.toUpperCase().replace('0X', '0x')}`)).toContain(one.address)
    expect(await linked()).toEqual([false, true, true])
    expect(await say(`/unlink ${two.address.toLowerCase()}`)).toContain(two.address)
    expect(await linked()).toEqual([false, false, true])
    expect(await say('/unlink')).toContain(owner.address)
    expect(await linked()).toEqual([false, false, false])
  })

  it('does not end the link to another chat that is made at the same moment', async () => {
    const ben = somebody(chats)
    await link(chats, owner, ann)
    const isWaiting = async () =>
      (
        await m.sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      ).length > 0
    const answer = await m.sql.begin(async (tx) => {
      await tx`UPDATE market.chat_links SET chat = ${String(ben.id)} WHERE chat = ${String(ann.id)}`
      const asked = say('/unlink')
      await until(isWaiting, 'the command waiting for the other change')
      return { asked }
    })
    await answer.asked
    expect(await isLinked()).toBe(true)
    expect(await say('/status', ben)).toContain(owner.address)
  })

  it('of several wallets offers a button for each, which works once and in this chat alone', async () => {
    const [other, ben] = [newWallet(), somebody(chats)]
    for (const wallet of [owner, other]) await link(chats, wallet, ann)
    const asked = await ask(chats, ann, '/unlink')
    const buttons = asked.reply_markup?.inline_keyboard.flat() ?? []
    expect(buttons).toHaveLength(2)
    await link(chats, owner, ben)
    // It is nobody's answer, and may come late.
    await ann.until((messages) => messages.find(({ text }) => text?.includes('now linked to another chat')))
    ann.press(asked.message_id, buttons[0]?.text ?? '')
    await ann.until((messages) =>
      messages.some(({ message_id, edit_date }) => message_id === asked.message_id && edit_date),
    )
    expect(await statusOf(chats, owner)).toMatchObject({
      linked: true,
      messenger_username: ben.user.username,
    })
    const again = await ask(chats, ann, '/unlink nothing')
    expect(again.text).toContain(other.address)
  })
})

describe('a group', () => {
  it('gets no answer, and no code, and is left [MSG-54]', async () => {
    await link(chats, owner, ann)
    const group = chats.telegram.group({ title: 'All of us' }, ann)
    await until(
      async () =>
        chats.telegram.calls.some(
          ({ method, params }) => method === 'leaveChat' && Number(params.chat_id) === group.id,
        ),
      'the bot leaving the group',
    )
    const small = chats.telegram.group({ title: 'A few', type: 'group' }, ann)
    const code = await codeOnWeb(chats, newWallet())
    for (const text of ['/start', `/start ${code}`, '/status', '/unlink', '/help', '/buy x']) {
      chats.telegram.push({
        message: {
          message_id: 9,
          date: 1,
          chat: { id: small.id, type: 'group', title: 'A few' },
          from: ann.user,
          text,
        },
      })
    }
    // What the person says afterwards is answered afterwards.
    expect(await say('/status')).toContain(owner.address)
    for (const room of [group, small]) {
      expect(room.messages().filter(({ from, text }) => from.is_bot && text)).toEqual([])
    }
    const sent = chats.telegram.calls.filter(
      ({ method, params }) => method !== 'leaveChat' && [group.id, small.id].includes(Number(params.chat_id)),
    )
    expect(sent).toEqual([])
    const minted =
      await m.sql`SELECT FROM market.link_codes WHERE chat = ANY(${[group.id, small.id].map(String)})`
    expect(minted).toHaveLength(0)
    expect(await say(`/start ${code}`)).toContain('Linked')
  })
})

it('no message holds a secret but the code of the chat itself', async () => {
  await link(chats, owner, ann)
  const code = await codeInChat(chats, ann)
  for (const text of ['/status', '/help', '/buy', '/unlink', '/start']) await say(text)
  const shown = ann
    .messages()
    .filter(({ from }) => from.is_bot)
    .map(({ text = '' }) => text)
    .join('\n')
  const secrets = [...shown.matchAll(/[\w-]{43,}/g)].map(([found]) => found)
  expect(new Set(secrets)).toEqual(new Set([code]))
  expect(shown).not.toContain(chats.telegram.token)
})
