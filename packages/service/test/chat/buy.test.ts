// Purchases that an owner asks for in the chat. Each is confirmed with a button, and queued for the runner of an agent.
import { type Product, registerIdentity } from '@referrer/contracts/local'
import type { Message, Person } from '@referrer/telegram-stand-in'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openShop, type Shop } from '../../src/derived/offers/testing.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from '../http/caller.ts'
import { transfer } from '../http/chain.ts'
import { foundWhere, sellAll, writeAll } from '../http/discover-market.ts'
import type { TestMarket } from '../http/market.ts'
import { act, openRecorded } from '../http/merchants.ts'
import { newcomer, type Person as Owner, type Review } from '../http/town.ts'
import { connectMcp, type McpCaller } from '../mcp/client.ts'
import { intentsOf } from '../mcp/intents.ts'
import { ask, type Chats, link, newWallet, somebody, startChats, told } from './chats.ts'

const PRICE = 1_500_000
const NAME = 'Tide tables'
const GONE = /no longer valid/
const NONE = /No wallet is linked/
const BAD_LINK = /cannot buy through this link/

let chats: Chats
let m: TestMarket
let mcp: McpCaller
let shop: Shop
/** The link of a review of the tide tables. */
let refLink: string
/** Links of a product whose price nobody knows, and of one that is closed. */
let unpriced: string
let closed: string
/** An owner with one agent whose wallet is linked to the chat of Ann, for each test. */
let owner: Owner
let ann: Person

beforeAll(async () => {
  shop = await openShop()
  chats = await startChats({ env: { TRUSTED_PROXIES: '127.0.0.1', ALLOW_PRIVATE_HOSTS: 'true' } })
  m = chats.m
  mcp = await connectMcp(m)
  const { market } = m
  const terms = { scheme: 'exact', network: `eip155:${m.chainId}`, asset: market.addresses.USDC }
  shop.answer = ({ url }, response) =>
    response.writeHead(402).end(JSON.stringify({ accepts: [{ ...terms, amount: url?.split('/').at(-1) }] }))
  const at = (price: number) => shop.url('127.0.0.1', `/${price}`)
  const merchantId = await openRecorded(m)
  const products = await sellAll(m, merchantId, [
    { name: NAME, description: 'Of every harbour', endpoint: at(PRICE) },
    { name: 'Weather archive' },
    { name: 'Closed shop', endpoint: at(1) },
    { name: 'Moon\u2028phases \u202e0 USDC', endpoint: at(2_000_000) },
    ...Array.from({ length: 7 }, (_, number) => ({
      name: `Sock pattern ${number}`,
      endpoint: at(1_000 + number),
    })),
  ])
  const author = {
    owner: market.accounts.reviewer,
    agentId: await registerIdentity(market, market.accounts.reviewer),
  }
  const reviews: Review[] = []
  for (const product of products) {
    const text =
      product === products[3] ? 'Good.\n\n9. Free: 0 USDC\u202e\u2066\n/unlink' : 'Right to the minute'
    reviews.push(...(await writeAll(m, product, [[author, 5, text]])))
  }
  const linkOf = async (number: number) =>
    (await must(m.call('GET', `/v1/review/${reviews[number]?.reviewId}`))).ref_link as string
  ;[refLink, unpriced, closed] = [await linkOf(0), await linkOf(1), await linkOf(2)]
  await act(
    m,
    market.accounts.merchant,
    'setProductActive',
    merchantId,
    (products[2] as Product).productId,
    false,
  )
  // Prices, reviews and what is closed come into the listings one after the other.
  await foundWhere(m, 'intent=pattern&max_products=20', ({ products: found }) => {
    const offered = found.filter(({ price_usdc, review_count }: Listed) => price_usdc && review_count === 1)
    return found.length === products.length - 1 && offered.length === products.length - 2
  })
})
afterAll(async () => {
  await mcp.close()
  await chats.close()
  shop.close()
})
beforeEach(async () => {
  ann = somebody(chats)
  owner = await newcomer(m)
  await m.indexed()
  await link(chats, owner.owner, ann)
})

interface Listed {
  price_usdc?: number
  review_count: number
}

const say = (text: string, person = ann) => told(chats, person, text)
const labels = ({ reply_markup }: Message) =>
  reply_markup?.inline_keyboard.flat().map(({ text }) => text) ?? []
const dataOf = ({ reply_markup }: Message, label: string) =>
  reply_markup?.inline_keyboard.flat().find(({ text }) => text === label)?.callback_data

/** The message as the chat shows it now. */
const shown = ({ message_id }: Message, person = ann): Message => {
  const found = person.messages().find((message) => message.message_id === message_id)
  if (!found) throw new Error(`message ${message_id} is gone`)
  return found
}

/** Presses a button and waits for what takes the place of the message. */
async function press(message: Message, label: string, person = ann): Promise<Message> {
  const before = shown(message, person).text
  m.clock.aheadMs += 1_000
  person.press(message.message_id, label)
  return person.until((messages) =>
    messages.find(({ message_id, text }) => message_id === message.message_id && text !== before),
  )
}

/** Everything that was sent before in this chat has been handled when this ends. */
const handled = (person = ann) => say('/help', person)

/** The answer to words whose first offer is of this name: a search that takes too long is answered by ranks alone. */
const foundBy = (words: string, name: string) =>
  until(async () => {
    const answer = await ask(chats, ann, `/buy ${words}`)
    return answer.text?.startsWith(`1. ${name}`) ? answer : undefined
  }, `an offer of ${name}`)

/** Asks for the tide tables by their link; the answer wants a confirmation. */
const offered = (person = ann) => ask(chats, person, `/buy ${refLink}`)

interface Queued {
  intent_id: string
  status: string
  payload: { ref_link: string; max_amount: string; idempotency_key: string; review?: boolean }
}
/** What the owner's route lists. */
const intents = async ({ owner: as, agentId } = owner): Promise<Queued[]> =>
  (await must(m.call('GET', `/v1/intents?agent_id=${agentId}`, { as }))).intents
const statuses = async (of = owner) => (await intents(of)).map(({ status }) => status)

const caps = (body: object) =>
  must(m.call('POST', '/v1/spending-limits', { as: owner.owner, body: { chain_id: m.chainId, ...body } }))

it('a failure on our side is told apart from the message, whose buttons stay', async () => {
  const queued = await press(await offered(), 'Buy')
  await m.sql`ALTER TABLE market.chat_links RENAME COLUMN linked_at TO away`
  m.clock.aheadMs += 1_000
  ann.press(queued.message_id, 'Withdraw')
  await ann.until((messages) => messages.find(({ text }) => text?.startsWith('Something went wrong')))
  await m.sql`ALTER TABLE market.chat_links RENAME COLUMN away TO linked_at`
  expect(labels(shown(queued))).toEqual(['Withdraw'])
})

it('agents that strangers give to the wallet do not hide its own', async () => {
  for (let given = 0; given < 8; given += 1) {
    const stranger = await newcomer(m)
    await transfer(m, stranger.owner, owner.owner.address, stranger.agentId)
  }
  expect(labels(await offered())).toContain(`Agent ${owner.agentId}`)
})

it("/buy offers nothing through reviews by the owner's own agents, which cannot be bought through", async () => {
  const author = somebody(chats)
  await link(chats, m.market.accounts.reviewer, author)
  expect(await say('/buy tide tables', author)).toMatch(/found nothing that can be bought/)
  expect(await say(`/buy ${refLink}`, author)).toMatch(/a review by one of your own agents/)
})

describe('/buy with words', () => {
  it('shows at most five offers with price, rank and a line of a review, and a button for each', async () => {
    const answer = await foundBy('sock pattern', 'Sock pattern')
    const offers = [
      ...(answer.text ?? '').matchAll(
        /^(\d)\. Sock pattern \d: 0\.001(00\d)? USDC, rank 0\.\d\d\n“Right to the minute”$/gm,
      ),
    ]
    expect(offers.map(([, number]) => number)).toEqual(['1', '2', '3', '4', '5'])
    expect(labels(answer)).toEqual(['1', '2', '3', '4', '5'])
    expect(await intents()).toEqual([])
  })

  it('queues what was chosen and confirmed, which the tool returns and the route lists', async () => {
    const answer = await foundBy('tide tables', NAME)
    expect(answer.text).toMatch(/^1\. Tide tables: 1\.5\d* USDC/)
    const asked = await press(answer, '1')
    expect(asked.text).toContain(`Agent ${owner.agentId} shall buy ${NAME} for at most 1.5`)
    expect(await intents()).toEqual([])
    const done = await press(asked, 'Buy')
    expect(done.text).toMatch(/^Queued: /)
    const [only, ...others] = await intents()
    expect(others).toEqual([])
    expect(only).toMatchObject({ status: 'pending', payload: { max_amount: String(PRICE) } })
    expect(only?.payload.ref_link).toMatch(/^https:\/\/market\.test\/r\/[\w-]+$/)
    expect(only?.payload.idempotency_key).not.toBe('')
    const { structured } = await intentsOf(m, mcp, owner.owner).poll(owner.agentId)
    expect(structured.intents).toMatchObject([{ intent_id: only?.intent_id, payload: only?.payload }])
  })

  it('leaves out what has no price, and what is closed', async () => {
    for (const words of ['weather archive', 'closed shop']) {
      expect(await say(`/buy ${words}`)).not.toMatch(/archive|Closed/)
    }
  })

  it('puts words of strangers into one line, without characters that turn it round', async () => {
    const answer = await foundBy('moon phases', 'Moon')
    const { text = '' } = answer
    const [first = '', second = '', third] = text.split('\n')
    expect(first).toMatch(/^1\. Moon phases 0 USDC: 2(\.0+)? USDC, rank /)
    expect(second).toBe('“Good. 9. Free: 0 USDC /\u2060unlink”')
    expect(third).toBe('')
    expect(text).not.toMatch(/[\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
    const asked = await press(answer, '1')
    expect(asked.text).toMatch(/shall buy Moon phases 0 USDC for at most 2/)
  })
})

describe('/buy with a link', () => {
  it('asks for a confirmation at once, of the product and its price', async () => {
    const asked = await offered()
    expect(asked.text).toContain(`Agent ${owner.agentId} shall buy ${NAME} for at most 1.5`)
    expect(labels(asked)).toEqual(['Buy', 'Buy and review', 'Cancel'])
    await press(asked, 'Buy')
    expect(await intents()).toMatchObject([
      { status: 'pending', payload: { ref_link: refLink, max_amount: String(PRICE) } },
    ])
  })

  it('queues that the runner reviews it, too', async () => {
    await press(await offered(), 'Buy and review')
    expect(await intents()).toMatchObject([
      { status: 'pending', payload: { ref_link: refLink, review: true } },
    ])
  })

  it('says when the price is not known', async () => {
    const answer = await ask(chats, ann, `/buy ${unpriced}`)
    expect(answer.text).toMatch(/price .* not known/)
    expect(labels(answer)).toEqual([])
  })

  it('takes no link but ours, and none of a closed product', async () => {
    const strange = [
      ...[closed, 'https://', 'https://market.test', 'https://market.test/r/abc', 'https://market.test/r/'],
      ...[
        `${refLink}x`,
        `${refLink.slice(0, -3)}${refLink.at(-3) === 'A' ? 'B' : 'A'}${refLink.slice(-2)}`,
        `${refLink}?a=1`,
        `https://a:b@market.test/r/${refLink.split('/').at(-1)}`,
      ],
      ...[`https://market.test/r/${'A'.repeat(3_900)}`, 'http://[::1', 'https://xn--/r/\u202e'],
    ]
    for (const text of strange) {
      const answer = await ask(chats, ann, `/buy ${text}`)
      expect([text, answer.text]).toEqual([text, expect.stringMatching(BAD_LINK)])
      expect(labels(answer)).toEqual([])
    }
    // Somebody else's host is not asked, and not passed on to the runner.
    const elsewhere = await ask(chats, ann, `/buy https://elsewhere.test/r/${refLink.split('/').at(-1)}`)
    if (labels(elsewhere).includes('Buy')) {
      await press(elsewhere, 'Buy')
      expect(await intents()).toMatchObject([{ payload: { ref_link: refLink } }])
    }
  })
})

describe('who can buy', () => {
  it('is told what to send when words are missing', async () => {
    expect(await say('/buy')).toMatch(/^Send \/buy and what you want/)
    expect(await say('/buy    ')).toMatch(/^Send \/buy and what you want/)
  })

  it('is not a chat without a wallet, or one whose wallets have no agent', async () => {
    const ben = somebody(chats)
    for (const text of ['/buy', '/buy tide', `/buy ${refLink}`]) expect(await say(text, ben)).toMatch(NONE)
    await link(chats, newWallet(), ben)
    for (const text of ['/buy', '/buy tide', `/buy ${refLink}`])
      expect(await say(text, ben)).toMatch(/own no agent/)
  })

  it('is asked which of several agents buys, of all wallets of the chat', async () => {
    const other = await newcomer(m)
    const second = await registerIdentity(m.market, owner.owner)
    await m.indexed()
    await link(chats, other.owner, ann)
    const asked = await offered()
    expect(asked.text).toContain('Which agent')
    expect(labels(asked)).toEqual([
      ...[second, other.agentId, owner.agentId].sort((a, b) => (a < b ? -1 : 1)).map((id) => `Agent ${id}`),
      'Cancel',
    ])
    const confirmed = await press(asked, `Agent ${other.agentId}`)
    expect(confirmed.text).toContain(`Agent ${other.agentId} shall buy ${NAME}`)
    await press(confirmed, 'Buy')
    expect([
      await statuses(other),
      await statuses(owner),
      await statuses({ ...owner, agentId: second }),
    ]).toEqual([['pending'], [], []])
  })

  it('is no agent of somebody else, whatever the button says', async () => {
    const [other, second] = [await newcomer(m), await registerIdentity(m.market, owner.owner)]
    await m.indexed()
    const asked = await offered()
    const draft = dataOf(asked, `Agent ${second}`)?.split(':')[1]
    for (const data of [
      `a:${draft}:${other.agentId}`,
      `b:${draft}`,
      `r:${draft}`,
      `a:${draft}:-1`,
      `a:${draft}:${'9'.repeat(30)}`,
      `a:${draft}`,
    ]) {
      pushPress(ann, asked.message_id, data)
    }
    await handled()
    expect([
      await statuses(other),
      await statuses(owner),
      await statuses({ ...owner, agentId: second }),
    ]).toEqual([[], [], []])
  })
})

/** A press that this person's app would not send. */
function pushPress(person: Person, messageId: number, data: string): void {
  m.clock.aheadMs += 1_000
  const chat = { id: person.id, type: 'private', first_name: 'Ann' }
  chats.telegram.push({
    callback_query: {
      ...{ id: String(Math.random()), from: person.user, chat_instance: '1', data },
      message: {
        message_id: messageId,
        date: Math.floor(Date.now() / 1_000),
        chat,
        from: { ...person.user, is_bot: true },
      },
    },
  })
}

describe('the budget', () => {
  it('is shown with the offer, and there is none without caps [MSG-59 otherwise]', async () => {
    expect((await offered()).text).toContain('no daily or total cap')
    await caps({ daily_cap_usdc: 5_000_000, total_cap_usdc: 9_000_000 })
    const asked = await offered()
    expect(asked.text).toMatch(/Budget left: 5(\.0+)? USDC\.$/)
    expect(labels(asked)).toContain('Buy')
  })

  it.each<[string, object, RegExp]>([
    ['more than one purchase may', { per_tx_cap_usdc: PRICE - 1 }, /more than this wallet allows/],
    ['more than is left', { daily_cap_usdc: PRICE - 1 }, /Budget left: 1\.499999 USDC\. That is not enough/],
    [
      'something when nothing is left',
      { total_cap_usdc: 0 },
      /Budget left: 0(\.0+)? USDC\. That is not enough/,
    ],
  ])('leaves no button to buy what costs %s', async (_, body, text) => {
    await caps(body)
    const asked = await offered()
    expect(asked.text).toMatch(text)
    expect(labels(asked)).toEqual(['Cancel'])
  })

  it('leaves a button to buy what costs just what is left', async () => {
    await caps({ per_tx_cap_usdc: PRICE, daily_cap_usdc: PRICE })
    expect(labels(await offered())).toContain('Buy')
  })
})

describe('a button', () => {
  it('to cancel queues nothing, and the offer is gone', async () => {
    const asked = await offered()
    const draft = dataOf(asked, 'Buy') ?? ''
    expect((await press(asked, 'Cancel')).text).toMatch(/Nothing was queued/)
    pushPress(ann, asked.message_id, draft)
    await handled()
    expect(await intents()).toEqual([])
  })

  it('to buy that is pressed twice queues once, and the chat still says that it is queued', async () => {
    const asked = await offered()
    const bought = dataOf(asked, 'Buy') ?? ''
    ann.press(asked.message_id, 'Buy')
    ann.press(asked.message_id, 'Buy')
    await handled()
    expect(await statuses()).toEqual(['pending'])
    expect(shown(asked).text).toMatch(/^Queued already: agent \d+ buys it once/)
    expect((await press(asked, 'Withdraw')).text).toMatch(/^Withdrawn/)
    pushPress(ann, asked.message_id, bought)
    await handled()
    expect(shown(asked).text).toMatch(/queued before, and is withdrawn/)
    expect(await statuses()).toEqual(['withdrawn'])
  })

  it('to buy that is pressed with the one to cancel says what was done', async () => {
    const asked = await offered()
    ann.press(asked.message_id, 'Buy')
    ann.press(asked.message_id, 'Cancel')
    await handled()
    expect(await statuses()).toEqual(['pending'])
    expect(shown(asked).text).toMatch(/^Queued already/)
  })

  it('that is pressed twenty times at once, with another one, queues once', async () => {
    const asked = await offered()
    const presses = Array.from({ length: 20 }, (_, at) =>
      ann.press(asked.message_id, at % 2 ? 'Buy and review' : 'Buy'),
    )
    // The bot answers no more of a flood than the first presses.
    await Promise.all(presses.slice(0, 5).map(({ answered }) => answered))
    m.clock.aheadMs += 60_000
    await handled()
    expect(await statuses()).toEqual(['pending'])
    expect(shown(asked).text).toMatch(/^Queued already/)
  })

  it('of another chat queues nothing, also when that chat has the same wallet', async () => {
    const ben = somebody(chats)
    const other = await newcomer(m)
    await m.indexed()
    await link(chats, other.owner, ben)
    const asked = await offered()
    const own = await offered(ben)
    for (const label of ['Buy', 'Buy and review']) pushPress(ben, own.message_id, dataOf(asked, label) ?? '')
    await handled(ben)
    expect([await intents(), await intents(other)]).toEqual([[], []])
    expect(shown(own, ben).text).toMatch(GONE)
    // A button to cancel that was copied does not end the offer of the other chat.
    pushPress(ben, own.message_id, dataOf(asked, 'Cancel') ?? '')
    await handled(ben)
    await press(asked, 'Buy')
    expect(await statuses()).toEqual(['pending'])
  })

  it('of an older offer queues nothing, nor one that is older than a quarter of an hour', async () => {
    const [old, asked] = [await offered(), await offered()]
    expect((await press(old, 'Buy')).text).toMatch(GONE)
    m.clock.aheadMs += 15 * 60_000
    expect((await press(asked, 'Buy')).text).toMatch(GONE)
    expect(await intents()).toEqual([])
  })

  it('queues nothing after the wallet was unlinked, or moved to another chat', async () => {
    const asked = await offered()
    await say('/unlink')
    expect((await press(asked, 'Buy')).text).toMatch(GONE)
    await link(chats, owner.owner, ann)
    const again = await offered()
    await link(chats, owner.owner, somebody(chats))
    expect((await press(again, 'Buy')).text).toMatch(GONE)
    expect(await intents()).toEqual([])
  })

  it('queues nothing after the wallet was linked anew by a signature that names nothing', async () => {
    const asked = await offered()
    await say('/unlink')
    const { code } = await must(m.call('POST', '/v1/messenger/link/start', { as: owner.owner }))
    await say(`/start ${code}`)
    expect((await press(asked, 'Buy')).text).toMatch(GONE)
    expect((await offered()).text).toMatch(/^This chat gets messages only/)
    expect(await intents()).toEqual([])
  })

  it('queues nothing for an agent that was given away', async () => {
    const other = await newcomer(m)
    const asked = await offered()
    await transfer(m, owner.owner, other.owner.address, owner.agentId)
    expect((await press(asked, 'Buy')).text).toMatch(GONE)
    expect(await intents({ ...other, agentId: owner.agentId })).toEqual([])
  })

  it('of no command at all, or of nonsense, is answered and does nothing', async () => {
    const asked = await offered()
    for (const data of [
      '',
      'b',
      'b:',
      ':',
      'z:1',
      'b:1:2',
      'w:',
      `w:${'0'.repeat(32)}`,
      'constructor:x',
      '\u0000',
    ]) {
      pushPress(ann, asked.message_id, data)
      await handled()
    }
    expect(await intents()).toEqual([])
    expect(await say('/status')).toContain(owner.owner.address)
  })
})

describe('the button to withdraw', () => {
  it('withdraws the purchase once', async () => {
    const done = await press(await offered(), 'Buy')
    const data = dataOf(done, 'Withdraw') ?? ''
    expect((await press(done, 'Withdraw')).text).toMatch(/^Withdrawn/)
    expect(await statuses()).toEqual(['withdrawn'])
    expect(await intentsOf(m, mcp, owner.owner).polledIds(owner.agentId)).toEqual([])
    pushPress(ann, done.message_id, data)
    await handled()
    expect(shown(done).text).toMatch(/already withdrawn/)
  })

  it('says when it is too late', async () => {
    const done = await press(await offered(), 'Buy')
    const [queued] = await intents()
    await intentsOf(m, mcp, owner.owner).execute(owner.agentId, queued?.intent_id ?? '', {
      result: 'escrow 1',
    })
    expect((await press(done, 'Withdraw')).text).toMatch(/already executed/)
    expect(await statuses()).toEqual(['executed'])
  })

  it('of another chat withdraws nothing', async () => {
    const [ben, other] = [somebody(chats), await newcomer(m)]
    await m.indexed()
    await link(chats, other.owner, ben)
    const done = await press(await offered(), 'Buy')
    const own = await offered(ben)
    pushPress(ben, own.message_id, dataOf(done, 'Withdraw') ?? '')
    await handled(ben)
    expect(shown(own, ben).text).toMatch(/^Not withdrawn/)
    expect(await statuses()).toEqual(['pending'])
  })
})
