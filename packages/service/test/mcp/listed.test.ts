// What the server lists about itself, for clients of the older and the newer protocol.
import {
  Client,
  type ClientOptions,
  type FetchLike,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { guides } from '../../src/market/guides/guides.ts'
import { must } from '../http/caller.ts'
import { startTestMarket, type TestMarket } from '../http/market.ts'
import { explainedBy, type ListedTool } from './client.ts'
import { FIELDS_ELSEWHERE, OF_SIGNER, POLL, READS, TWO_STEPS, WRITES } from './names.ts'

type Json = Record<string, unknown>

let m: TestMarket
let old: Client
let tools: Map<string, ListedTool>
/** The same with all that there is to say of them. */
let explained: Map<string, ListedTool>

async function connect(options: ClientOptions = {}, send: FetchLike = fetch): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, options)
  await client.connect(new StreamableHTTPClientTransport(new URL(`${m.service.url}/mcp`), { fetch: send }))
  return client
}

beforeAll(async () => {
  m = await startTestMarket()
  old = await connect()
  tools = new Map((await old.listTools()).tools.map((tool) => [tool.name, tool]))
  explained = new Map()
  for (const name of tools.keys()) explained.set(name, await explainedBy(old, name))
})
afterAll(async () => {
  await old.close()
  await m.close()
})

const propertiesOf = ({ inputSchema }: Pick<ListedTool, 'inputSchema'>) =>
  Object.entries((inputSchema.properties ?? {}) as Record<string, Json>)

/** The value and everything inside it. */
function* within(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return
  yield value as Json
  for (const child of Object.values(value)) yield* within(child)
}

/** Numbers and texts in a schema, each with its path. */
function* leaves(schema: unknown, path: string[] = []): Generator<[string[], Json]> {
  if (typeof schema !== 'object' || schema === null) return
  const { properties = {}, type, examples: _, ...rest } = schema as Json
  if (['integer', 'number', 'string'].some((leaf) => [type].flat().includes(leaf)))
    yield [path, schema as Json]
  for (const [name, field] of Object.entries(properties as Json)) yield* leaves(field, [...path, name])
  for (const part of Object.values(rest)) yield* leaves(part, path)
}

/** What a client would not assume by itself when a hint is missing. */
function unassumed({ readOnlyHint, destructiveHint, idempotentHint }: ListedTool['annotations'] = {}) {
  if (readOnlyHint) return { readOnlyHint }
  return { readOnlyHint, destructiveHint, ...(idempotentHint && { idempotentHint }) }
}

/** The arguments of a schema by their paths, a required one with an exclamation mark. */
function* argumentsIn(schema: Json, path = ''): Generator<string> {
  const { properties = {}, required = [], items } = schema
  for (const [name, field] of Object.entries(properties as Record<string, Json>)) {
    yield `${path}${name}${(required as string[]).includes(name) ? '!' : ''}`
    yield* argumentsIn(field, `${path}${name}.`)
  }
  if (items) yield* argumentsIn(items as Json, `${path}[].`)
}

const OF_MONEY = new Set(['commission', 'earnings', 'escrow_pending', 'cashback', 'held_back'])
const NO_MONEY = /(_bps|Bps|count|status|action_needed|eligible_at)$/

const isMoney = (path: string[]) => {
  const field = path.at(-1) ?? ''
  if (NO_MONEY.test(field)) return false
  return /usdc|amount|price|budget$/.test(field) || path.some((name) => OF_MONEY.has(name))
}

describe('tools/list', () => {
  it.each([
    ['link_messenger [MCP-03]'],
    ['get_pending_intents [MCP-04]'],
    ['mark_intent_executed [MCP-05]'],
    ['mark_intent_skipped [MCP-06]'],
    ['submit_proof [MCP-07]'],
    ['get_proof_status [MCP-08]'],
    ['cast_review_votes [MCP-09]'],
    ['get_agent_context [MCP-10]'],
    ['get_reviewable_products [MCP-11]'],
    ['get_earnings [MCP-12]'],
    ['list_escrows [MCP-13]'],
    ['get_escrow_status [MCP-14]'],
    ['get_review_rank [MCP-15]'],
    ['register_purchase_review [MCP-16]'],
    ['update_review_content [MCP-17]'],
  ])('has %s', (title) => {
    expect([...tools.keys()]).toContain(title.split(' ')[0])
  })

  it('has these tools and no others, none of which sets spending limits [MCP-103, SPEND-03]', () => {
    expect([...tools.keys()].sort()).toEqual([...READS, ...WRITES, POLL].sort())
  })

  it('shows each with a title, a text to choose it by, and an object as its answer', () => {
    for (const { name, title, description = '', inputSchema, outputSchema } of tools.values()) {
      expect(title, name).toMatch(/\w{3}/)
      expect(explained.get(name)?.annotations?.title, name).toBe(title)
      expect(description.length, name).toBeGreaterThan(80)
      expect(inputSchema.type, name).toBe('object')
      expect(outputSchema?.type, name).toBe('object')
    }
  })

  it('marks those that change nothing, and no other', () => {
    const hint = (name: string) => tools.get(name)?.annotations?.readOnlyHint
    for (const name of READS) expect(hint(name), name).toBe(true)
    for (const name of WRITES) expect(hint(name), name).toBe(false)
    for (const { name, annotations } of explained.values()) {
      expect(annotations?.destructiveHint, name).toBe(false)
      expect(tools.get(name)?.annotations, name).toEqual(unassumed(annotations))
    }
  })

  it('has every argument of the whole tool, required where it is, and every field of its answers', () => {
    const required = (schema: Json) => [...((schema.required as string[] | undefined) ?? [])].sort()
    for (const { name, inputSchema, outputSchema = {} } of tools.values()) {
      const whole = explained.get(name) as ListedTool
      expect(Object.keys(inputSchema.properties ?? {}), name).toEqual(
        Object.keys(whole.inputSchema.properties ?? {}),
      )
      expect([...argumentsIn(inputSchema)], name).toEqual([...argumentsIn(whole.inputSchema)])
      const answers = (whole.outputSchema?.anyOf ?? [whole.outputSchema]) as Json[]
      const fields = new Set(answers.flatMap(({ properties }) => Object.keys(properties as Json)))
      expect(Object.keys(outputSchema.properties as Json), name).toEqual([...fields])
      const always = [...fields].filter((field) =>
        answers.every((answer) => required(answer).includes(field)),
      )
      expect(required(outputSchema), name).toEqual(always.sort())
    }
  })

  it('explains every argument where a tool is read in full, with an example of each that is required', () => {
    for (const { name, inputSchema } of explained.values()) {
      for (const [field, schema] of propertiesOf({ inputSchema })) {
        expect(schema.description, `${name} ${field}`).toMatch(/\w{3}/)
        expect(schema.type, `${name} ${field}`).toEqual(expect.any(String))
        if (!inputSchema.required?.includes(field)) continue
        expect(schema.examples, `${name} ${field}`).toEqual(expect.arrayContaining([expect.anything()]))
      }
    }
  })

  it('takes an optional chain in every tool [MCP-18]', () => {
    expect(tools.size).toBeGreaterThanOrEqual(15)
    for (const { name, inputSchema } of tools.values()) {
      expect(inputSchema.properties?.chain_id, name).toMatchObject({ type: 'integer' })
      expect(inputSchema.required ?? [], name).not.toContain('chain_id')
    }
  })

  it('says what must be sent', () => {
    for (const { name, inputSchema } of tools.values()) {
      if (!inputSchema.properties?.agent_id) continue
      expect(inputSchema.required, name).toContain('agent_id')
    }
    expect(tools.get('cast_review_votes')?.inputSchema.required).toEqual(['agent_id', 'escrow_id', 'votes'])
    expect(tools.get('submit_proof')?.inputSchema.required).toEqual([
      'agent_id',
      'merchant_id',
      'product_id',
      'proof_data',
    ])
  })

  it('has one tool for both steps, whose second needs what the first does without [MCP-19]', () => {
    const isTwoStep = ({ inputSchema }: ListedTool) =>
      Object.hasOwn(inputSchema.properties ?? {}, 'agent_sig')
    const found = [...tools.values()].filter(isTwoStep)
    expect(found.map(({ name }) => name).sort()).toEqual(TWO_STEPS.toSorted())
    for (const { name, inputSchema } of found) {
      for (const field of ['nonce', 'expiry', 'agent_sig']) {
        expect(inputSchema.properties, name).toHaveProperty(field)
        expect(explained.get(name)?.inputSchema.properties?.[field], name).toMatchObject({
          description: expect.stringMatching(/^Only in the second call/),
        })
        expect(inputSchema.required, name).not.toContain(field)
      }
    }
  })

  it('has schemas in one piece: not every client looks references up', () => {
    for (const { name, inputSchema, outputSchema } of [...tools.values(), ...explained.values()]) {
      for (const schema of within({ inputSchema, outputSchema })) {
        for (const key of ['$ref', '$defs', 'about', 'shown']) expect(schema, name).not.toHaveProperty(key)
      }
    }
  })

  it('has one unit of money, USDC base units, and says so at every amount; the balance of a wallet alone is in whole USDC', () => {
    expect(old.getInstructions()).toContain('Amounts are USDC base units')
    const amounts = [...explained.values()].flatMap(({ name, inputSchema, outputSchema }) =>
      [...leaves({ inputSchema, outputSchema })]
        .filter(([path]) => isMoney(path))
        .map(([path, { description }]) => [`${name} ${path.join('.')}`, path.at(-1), description] as const),
    )
    expect(amounts.length).toBeGreaterThan(30)
    for (const [place, field, description] of amounts) {
      expect(description, place).toMatch(
        field === 'usdc_wallet_balance' ? /in whole USDC/ : /USDC base units/,
      )
    }
    for (const { name, description = '' } of [...tools.values(), ...explained.values()]) {
      expect(description, name).not.toMatch(/(?<!USDC )base units/)
      const texts = description.split(/(?<=[.;]) /).filter((text) => text.includes('usdc_wallet_balance'))
      for (const text of texts) expect(text, name).toMatch(/whole USDC/)
    }
  })

  it('names in its texts only what there is', () => {
    for (const { name, description = '' } of [...tools.values(), ...explained.values()]) {
      expect(unknownIn(description.matchAll(/\b[a-z]+(?:_[a-z0-9]+)+\b/g)), name).toEqual([])
    }
  })
})

/** Words that are neither a tool nor a field of one. */
function unknownIn(words: Iterable<RegExpMatchArray>): string[] {
  const known = new Set([...tools.keys(), ...OF_SIGNER, ...FIELDS_ELSEWHERE])
  for (const { properties, enum: values = [], const: value } of within([...explained.values()])) {
    for (const name of Object.keys(properties ?? {})) known.add(name)
    for (const text of [...(values as unknown[]), value]) known.add(String(text))
  }
  return [...words].map(([word, quoted]) => quoted ?? word).filter((word) => !known.has(word))
}

const OF_2026: ClientOptions = { versionNegotiation: { mode: { pin: '2026-07-28' } } }
const ERAS: [string, ClientOptions, string][] = [
  ['the protocol with a handshake', {}, '2025-11-25'],
  ['the protocol of 2026', OF_2026, '2026-07-28'],
]

describe.each(ERAS)('in %s', (_, options, version) => {
  let client: Client
  beforeAll(async () => {
    client = await connect(options)
  })
  afterAll(() => client.close())

  it('the official client connects and lists the tools [MCP-01]', async () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    expect(client.getServerVersion()).toMatchObject({ name: 'referrer' })
    expect(client.getInstructions()).toContain('referrer://skill')
    expect((await client.listTools()).tools).toEqual([...tools.values()])
  })

  it('a tool is called', async () => {
    const asked = { name: 'get_review_rank', arguments: { agent_id: 7 } }
    const { content, structuredContent, isError } = await client.callTool(asked)
    expect(isError).toBeFalsy()
    expect(structuredContent).toMatchObject({ repeat: { cold_start: true } })
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }])
  })

  it('a tool that does not exist is an error of the protocol', async () => {
    await expect(client.callTool({ name: 'set_spending_limits' })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('there is no tool set_spending_limits'),
    })
  })

  it('three prompts are listed, and hold the guide to what they are for', async () => {
    const { prompts } = await client.listPrompts()
    const required = prompts.map(({ name, arguments: args = [] }) => [
      name,
      args.filter(({ required }) => required).map(({ name }) => name),
    ])
    expect(required).toEqual([
      ['find_and_buy', ['want']],
      ['review_purchase', ['agent_id']],
      ['earn_with_review', ['agent_id']],
    ])
    for (const [name, args, told, guide] of [
      [
        'find_and_buy',
        { want: 'a map of Mars', max_amount: '250000', agent_id: '7' },
        '250000',
        guides.buying,
      ],
      ['review_purchase', { agent_id: '7', escrow_id: '41' }, 'purchase 41', guides.reviewing],
      ['earn_with_review', { agent_id: '7', knows: 'weather' }, 'weather', guides.earning],
    ] as const) {
      const { messages } = await client.getPrompt({ name, arguments: args })
      expect(messages).toEqual([
        { role: 'user', content: { type: 'text', text: expect.stringContaining(guide) } },
      ])
      const task = JSON.stringify(messages).replace(JSON.stringify(guide).slice(1, -1), '')
      for (const piece of [told, 'agent 7']) expect(task).toContain(piece)
    }
  })

  it('a prompt without what it needs is refused, and says what that is', async () => {
    for (const args of [{}, { want: '' }, { want: ' ' }]) {
      await expect(client.getPrompt({ name: 'find_and_buy', arguments: args })).rejects.toMatchObject({
        code: -32_602,
        message: expect.stringContaining('want is required'),
      })
    }
    await expect(client.getPrompt({ name: 'sell' })).rejects.toMatchObject({ code: -32_602 })
  })

  it('the resources are what the routes and the guides say', async () => {
    const read = async (uri: string) => (await client.readResource({ uri })).contents
    const manifest = await must(m.call('GET', '/.well-known/referrer-agent'))
    const [manifestRead] = await read('referrer://manifest')
    expect(manifestRead).toMatchObject({ mimeType: 'application/json' })
    expect(JSON.parse((manifestRead as { text: string }).text)).toEqual(manifest)
    const skill = await m.call('GET', '/skill.md')
    expect(skill.status).toBe(200)
    expect(skill.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    const asRead = (uri: string, text: string) => [{ uri, mimeType: 'text/markdown', text }]
    expect(await read('referrer://skill')).toEqual(asRead('referrer://skill', skill.text))
    for (const name of ['buying', 'reviewing', 'earning'] as const) {
      const uri = `referrer://guides/${name}`
      expect(await read(uri)).toEqual(asRead(uri, guides[name]))
    }
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual([
      'referrer://manifest',
      'referrer://skill',
      ...['buying', 'reviewing', 'earning'].map((name) => `referrer://guides/${name}`),
    ])
    await expect(read('referrer://secrets')).rejects.toThrow()
  })

  it('every tool can be read in full, under its name', async () => {
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'referrer://tools/{name}' }])
    for (const [name, tool] of explained) {
      expect(await explainedBy(client, name)).toEqual(tool)
      expect(tool).toMatchObject({
        name,
        description: expect.stringContaining(tools.get(name)?.description ?? '?'),
      })
    }
    await expect(explainedBy(client, 'set_spending_limits')).rejects.toThrow()
  })
})

it('nobody can subscribe to what never changes, and no stream stays open', async () => {
  const types: (string | null)[] = []
  const client = await connect(OF_2026, async (url, init) => {
    const response = await fetch(url, init)
    types.push(response.headers.get('content-type'))
    return response
  })
  await expect(client.listen({ toolsListChanged: true })).rejects.toMatchObject({
    code: -32_603,
    message: 'Subscription limit reached',
  })
  await client.close()
  expect(types.length).toBeGreaterThan(1)
  for (const type of types) expect(type).toMatch(/^application\/json/)
})

describe('the skill', () => {
  it('names only tools and fields that there are, and all tools in two steps', async () => {
    const { text } = await m.call('GET', '/skill.md')
    expect(text).toMatch(/^---\nname: referrer\ndescription: .{80,}\n---\n/)
    expect(text).not.toContain('{{')
    expect(unknownIn(text.matchAll(/`([a-z]+(?:_[a-z0-9]+)+)`/g))).toEqual([])
    for (const name of [...TWO_STEPS, 'discover_products', 'pay_for_product'])
      expect(text).toContain(`\`${name}\``)
    const { ReviewRegistry, CommissionEscrow } = m.market.addresses
    for (const value of [ReviewRegistry, CommissionEscrow, 'https://market.test/mcp']) {
      expect(text).toContain(value)
    }
  })
})
