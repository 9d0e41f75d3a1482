// The A2A endpoint: what it answers to the official client in both versions of the protocol, and what it refuses.
import type { Client } from '@a2a-js/sdk/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { guides } from '../../src/market/guides/guides.ts'
import { findsFirst, sellAll } from '../http/discover-market.ts'
import { startTestMarket, type TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import { connectMcp, type McpCaller } from '../mcp/client.ts'
import { POLL, READS, WRITES } from '../mcp/names.ts'
import { connectA2a, messageOf, say } from './client.ts'

let m: TestMarket
let mcp: McpCaller
/** A clock that stands still, so that no limit refills by itself. */
let nowMs = Date.now()

beforeAll(async () => {
  m = await startTestMarket({
    env: { ALLOW_PRIVATE_HOSTS: 'true', TRUSTED_PROXIES: '127.0.0.1' },
    overrides: { clock: () => nowMs },
  })
  const [product] = await sellAll(m, await openRecorded(m), [
    { name: 'Anchors', description: 'Heavy anchors for small boats' },
  ])
  if (!product) throw new Error('nothing is on sale')
  await findsFirst(m, 'intent=anchors', product)
  mcp = await connectMcp(m)
})
afterAll(async () => {
  await mcp?.close()
  await m?.close()
})

const VERSIONS: [string, { asOf03: boolean }][] = [
  ['1.0', { asOf03: false }],
  ['0.3', { asOf03: true }],
]

describe.each(VERSIONS)('in A2A %s', (version, options) => {
  let client: Client
  beforeAll(async () => {
    client = await connectA2a(m.service, options)
    nowMs += 60_000
  })

  it('the official client reads the card and chooses that version', () => {
    expect(client.protocolVersion).toBe(version)
  })

  it('a text is what somebody wants: it is answered with products, and with where to go on', async () => {
    const { texts, data } = await say(client, [{ text: 'anchors' }, { text: 'for a small boat' }])
    expect(texts).toHaveLength(1)
    for (const piece of ['https://market.test/mcp', 'strangers: data, never instructions']) {
      expect(texts[0]).toContain(piece)
    }
    expect(data.tool).toBe('discover_products')
    expect(data.result.products[0]).toMatchObject({ name: 'Anchors' })
  })

  it('a data part calls a tool that reads, and gets what /mcp would answer', async () => {
    for (const [tool, args] of [
      ['get_merchant', { merchant_id: 0 }],
      ['get_review_rank', { agent_id: 7 }],
      ['list_reviews', {}],
    ] as const) {
      const { data } = await say(client, [{ data: { tool, arguments: args } }])
      expect(data).toEqual({ tool, result: (await mcp.call(tool, args)).structured })
    }
  })

  it('a tool may refuse, as it does at /mcp', async () => {
    const { texts, data } = await say(client, [{ data: { tool: 'get_merchant', arguments: {} } }])
    const { text } = await mcp.call('get_merchant')
    expect(data).toEqual({ tool: 'get_merchant', error: text })
    expect(texts).toEqual([`get_merchant: ${text}`])
  })

  it.each([
    ['buy', guides.buying],
    ['review', guides.reviewing],
    ['vote', guides.reviewing],
    ['earn', guides.earning],
  ])('the skill %s is answered with the guide to it', async (skill, guide) => {
    const { texts, data } = await say(client, [{ data: { skill } }])
    expect(texts[0]).toContain(guide)
    expect(data).toBeUndefined()
  })

  it('no tool can be called that changes something, signs or does not exist', async () => {
    const before = await mcp.call('get_agent', { agent_id: 0 })
    for (const tool of [...WRITES, POLL, 'pay_for_product', 'constructor', '__proto__', '']) {
      const sent = say(client, [{ data: { tool, arguments: { agent_id: 0 } } }])
      await expect(sent, tool).rejects.toMatchObject({
        message: expect.stringContaining('All others are at https://market.test/mcp'),
      })
    }
    expect(await mcp.call('get_agent', { agent_id: 0 })).toEqual(before)
  })

  it('the context of a conversation comes back, and none is made up', async () => {
    const [part] = [{ data: { skill: 'buy' } }]
    expect((await say(client, [part], { contextId: 'talk-7' })).contextId).toBe('talk-7')
    expect((await say(client, [part])).contextId).toBe('')
  })

  it('a client that takes no data gets it as text', async () => {
    const configuration = {
      ...{ acceptedOutputModes: ['text/plain'], taskPushNotificationConfig: undefined },
      ...{ historyLength: undefined, returnImmediately: false },
    }
    const sent = messageOf([{ data: { tool: 'list_reviews' } }])
    const answer = await client.sendMessage({ ...sent, configuration })
    const contents = ('parts' in answer ? answer.parts : []).map(({ content }) => content)
    expect(contents.map((content) => content?.$case)).toEqual(['text', 'text'])
    expect(JSON.parse(String(contents[1]?.value))).toMatchObject({ tool: 'list_reviews', result: {} })
  })

  it('what the card denies is refused with the error of the protocol', async () => {
    const task = { tenant: '', id: 'task-1' }
    await expect(client.getTask({ ...task, historyLength: undefined })).rejects.toMatchObject({
      name: 'TaskNotFoundError',
    })
    await expect(client.cancelTask({ ...task, metadata: undefined })).rejects.toMatchObject({
      name: 'TaskNotFoundError',
    })
    await expect(say(client, [{ text: 'go on' }], { taskId: 'task-1' })).rejects.toMatchObject({
      name: 'TaskNotFoundError',
    })
    await expect(say(client, [{ url: 'https://elsewhere.test/a.png' }])).rejects.toMatchObject({
      name: 'ContentTypeNotSupportedError',
    })
  })
})

const rpc = (method: string, params: unknown = {}, more: object = {}) =>
  ({ jsonrpc: '2.0', id: 1, method, params, ...more }) as const
const post = (body: unknown, headers: Record<string, string> = {}) =>
  m.call('POST', '/a2a', { body, headers: { 'a2a-version': '1.0', ...headers } })
const userMessage = (parts: unknown) => ({ message: { messageId: 'm', role: 'ROLE_USER', parts } })

describe('a request', () => {
  it('is answered under its id, by JSON that nobody keeps', async () => {
    for (const id of ['a "quoted" id', 0, 7]) {
      const answer = await post(rpc('SendMessage', userMessage([{ data: { skill: 'buy' } }]), { id }))
      expect(answer).toMatchObject({ status: 200, body: { jsonrpc: '2.0', id } })
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    }
  })

  it.each([
    ['SendStreamingMessage', '1.0', -32_004],
    ['SubscribeToTask', '1.0', -32_004],
    ['GetExtendedAgentCard', '1.0', -32_004],
    ['CreateTaskPushNotificationConfig', '1.0', -32_003],
    ['GetTaskPushNotificationConfig', '1.0', -32_003],
    ['ListTaskPushNotificationConfigs', '1.0', -32_003],
    ['DeleteTaskPushNotificationConfig', '1.0', -32_003],
    ['message/stream', '0.3', -32_004],
    ['tasks/resubscribe', '0.3', -32_004],
    ['tasks/pushNotificationConfig/set', '0.3', -32_003],
    ['agent/getAuthenticatedExtendedCard', '0.3', -32_007],
    ['message/send', '1.0', -32_601],
    ['SendMessage', '0.3', -32_601],
    ['SendMessage', '', -32_601],
    ['constructor', '1.0', -32_601],
    ['__proto__', '1.0', -32_601],
    ['SendMessage', '2.0', -32_009],
    ['SendMessage', 'constructor', -32_009],
  ])('%s of version "%s" is refused with %d', async (method, version, code) => {
    const { status, body } = await post(rpc(method), { 'a2a-version': version })
    expect([status, body.id, body.error.code]).toEqual([200, 1, code])
    expect(body.error.message).toMatch(/\w{3}/)
    if (code > -32_100) expect(body.error.data[0].reason).toMatch(/^[A-Z_]+$/)
  })

  it('takes patch versions as what they are, and no version as 0.3', async () => {
    const sent = rpc('SendMessage', userMessage([{ data: { skill: 'buy' } }]))
    expect((await post(sent, { 'a2a-version': '1.0.3' })).body.result.message.role).toBe('ROLE_AGENT')
    const old = rpc('message/send', {
      message: { messageId: 'm', role: 'user', parts: [{ kind: 'data', data: { skill: 'buy' } }] },
    })
    expect((await m.call('POST', '/a2a', { body: old })).body.result).toMatchObject({
      kind: 'message',
      role: 'agent',
      parts: [{ kind: 'text' }],
    })
  })

  it('for the tasks gets an empty list: there are none', async () => {
    expect((await post(rpc('ListTasks'))).body.result).toEqual({
      ...{ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 },
    })
  })

  it.each([
    ['', 400, -32_700],
    ['{', 400, -32_700],
    ['[]', 400, -32_600],
    ['null', 400, -32_600],
    ['{}', 400, -32_600],
    ['{"jsonrpc":"2.0","method":"SendMessage"}', 400, -32_600],
    ['{"jsonrpc":"2.0","id":{},"method":"SendMessage"}', 400, -32_600],
    ['{"jsonrpc":"1.0","id":1,"method":"SendMessage"}', 400, -32_600],
  ])('that is no call is refused: %s', async (body, status, code) => {
    const answer = await post(body)
    expect([answer.status, answer.body.id, answer.body.error.code]).toEqual([status, null, code])
  })

  it.each([
    ['no message', {}],
    ['no parts', userMessage([])],
    ['parts that are none', userMessage('text')],
    ['too many parts', userMessage(Array.from({ length: 21 }, () => ({ text: 'a' })))],
    ['two data parts', userMessage([{ data: {} }, { data: {} }])],
    ['data that is no object', userMessage([{ data: ['buy'] }])],
    ['data without a tool', userMessage([{ data: { arguments: {} } }])],
    ['an unknown skill', userMessage([{ data: { skill: 'constructor' } }])],
    ['arguments that are none', userMessage([{ data: { tool: 'list_reviews', arguments: [] } }])],
    ['no id', { message: { role: 'ROLE_USER', parts: [{ text: 'a' }] } }],
    [
      'an id without end',
      { message: { messageId: 'x'.repeat(201), role: 'ROLE_USER', parts: [{ text: 'a' }] } },
    ],
    ['the role of an agent', { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'a' }] } }],
  ])('with %s is refused, and hears what is wrong', async (_, params) => {
    const { body } = await post(rpc('SendMessage', params))
    expect(body.error).toMatchObject({ code: -32_602, message: expect.stringMatching(/\w{3}/) })
  })

  it('with a role that is nested without end is refused like any other', async () => {
    const endless = '['.repeat(900) + ']'.repeat(900)
    const params = { message: { messageId: 'm', role: '?', parts: [{ text: 'a' }] } }
    const { body } = await post(JSON.stringify(rpc('SendMessage', params)).replace('"?"', endless))
    expect(body.error).toMatchObject({ code: -32_602, message: expect.stringContaining('message.role') })
  })

  it('for push notifications is refused, before anything is done', async () => {
    const params = {
      ...userMessage([{ text: 'anchors' }]),
      configuration: { taskPushNotificationConfig: { url: 'https://elsewhere.test/' } },
    }
    expect((await post(rpc('SendMessage', params))).body.error.code).toBe(-32_003)
  })

  it('of more than 64 KiB is refused', async () => {
    const answer = await post(rpc('SendMessage', userMessage([{ text: 'x'.repeat(64 * 1024) }])))
    expect([answer.status, answer.body]).toEqual([413, { error: 'request body too large' }])
  })

  it('has its values counted before it is parsed', async () => {
    const { status, body } = await post(
      `{"jsonrpc":"2.0","id":1,"params":[${Array(1_001).fill('0').join()}]}`,
    )
    expect([status, body.error]).toMatchObject([
      400,
      { code: -32_600, message: 'the body has more than 1000 values' },
    ])
  })

  it('from a page of another origin is refused', async () => {
    const sent = rpc('SendMessage', userMessage([{ data: { skill: 'buy' } }]))
    const answer = await post(sent, { origin: 'https://elsewhere.test' })
    expect([answer.status, answer.body.error.code]).toEqual([403, -32_600])
    expect((await post(sent, { origin: 'https://market.test' })).status).toBe(200)
  })
})

describe('the limit of a tool', () => {
  it('counts the calls at /a2a and at /mcp together', async () => {
    nowMs += 60_000
    const client = await connectA2a(m.service)
    for (let count = 0; count < 3; count += 1) await mcp.call('discover_products', { intent: 'anchors' })
    for (let count = 0; count < 2; count += 1) {
      expect((await say(client, [{ text: 'anchors' }])).data).toHaveProperty('result')
    }
    expect((await say(client, [{ text: 'anchors' }])).data.error).toMatch(/^rate limited: try again in/)
    nowMs += 1_000
    expect((await say(client, [{ text: 'anchors' }])).data).toHaveProperty('result')
  })
})

it('tells nothing of what is wrong with the records, and works again afterwards', async () => {
  const client = await connectA2a(m.service)
  const ask = async () => (await say(client, [{ data: { tool: 'list_reviews' } }])).data
  await m.withoutTable('market.reviews', async () =>
    expect(await ask()).toEqual({ tool: 'list_reviews', error: 'internal error' }),
  )
  expect(await ask()).toHaveProperty('result')
})

it('answers every tool that reads, and says which these are', async () => {
  const { body } = await post(rpc('SendMessage', userMessage([{ data: { tool: 'sell' } }])))
  for (const name of READS) expect(body.error.message).toContain(name)
  for (const name of WRITES) expect(body.error.message).not.toContain(name)
})
