import { AgentCard } from '@a2a-js/sdk'
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SKILL_GUIDES } from '../../src/market/manifest/agent-card.ts'
import type { Answer } from '../http/caller.ts'
import { BASE_URL, startTestMarket, type TestMarket } from '../http/market.ts'
import { OF_SIGNER, READS, WRITES } from '../mcp/names.ts'

const PATH = '/.well-known/agent-card.json'

let m: TestMarket
let card: Answer
beforeAll(async () => {
  m = await startTestMarket()
  card = await m.call('GET', PATH)
})
afterAll(() => m?.close())

describe('GET /.well-known/agent-card.json', () => {
  it('is JSON for everybody, pages of any origin included', async () => {
    expect(card.status).toBe(200)
    expect(card.headers.get('content-type')).toBe('application/json')
    const elsewhere = { origin: 'https://elsewhere.test' }
    const answer = await m.call('GET', PATH, { headers: elsewhere })
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    // The official client asks with the version of its protocol.
    const preflight = await m.call('OPTIONS', PATH, {
      headers: {
        ...elsewhere,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'a2a-version',
      },
    })
    expect(preflight.headers.get('access-control-allow-headers')?.split(', ')).toContain('a2a-version')
  })

  it('may be kept for an hour, and is not sent again while it is the same', async () => {
    const etag = card.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{22}"$/)
    expect(card.headers.get('cache-control')).toBe('public, max-age=3600')
    for (const tag of [etag, `W/${etag}`]) {
      const again = await m.call('GET', PATH, { headers: { 'if-none-match': tag } })
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
    }
    expect((await m.call('GET', PATH, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })

  it('answers HEAD with the headers alone', async () => {
    const { status, text, headers } = await m.call('HEAD', PATH)
    expect([status, text]).toEqual([200, ''])
    for (const name of ['etag', 'cache-control', 'content-type', 'content-length']) {
      expect(headers.get(name), name).toBe(card.headers.get(name))
    }
  })

  it('is read by the official client, which finds in it all that version 1.0 requires', async () => {
    const read = await new DefaultAgentCardResolver().resolve(m.service.url)
    const parsed = AgentCard.fromJSON(read)
    // Those of version 0.3 are of no use to it.
    const { protocolVersion, url, preferredTransport, ...known } = card.body
    expect(AgentCard.toJSON(parsed)).toEqual(known)
    expect(parsed.supportedInterfaces).toMatchObject([
      { url: `${BASE_URL}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${BASE_URL}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ])
    for (const list of [parsed.skills, parsed.defaultInputModes, parsed.defaultOutputModes]) {
      expect(list.length).toBeGreaterThan(0)
    }
    for (const text of [parsed.name, parsed.description, parsed.version]) expect(text).toMatch(/\S/)
    expect(parsed.capabilities).toMatchObject({ streaming: false, pushNotifications: false })
  })

  it('has all that version 0.3 requires, too', () => {
    const { supportedInterfaces: _, ...old } = card.body
    const read = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }).normalizeAgentCard(old)
    expect(read.supportedInterfaces).toMatchObject([
      { url: `${BASE_URL}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3.0' },
    ])
    expect(read.skills.map(({ id }) => id)).toEqual(card.body.skills.map(({ id }: { id: string }) => id))
  })

  it('says what can be done, by tools that there are, and leads to them', () => {
    const ids = card.body.skills.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(['find', ...Object.keys(SKILL_GUIDES)])
    const tools = new Set([...READS, ...WRITES, ...OF_SIGNER])
    for (const { id, name, description, tags, examples } of card.body.skills) {
      const named = [...description.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g)].map(([word]) => word)
      expect(named.length, id).toBeGreaterThan(0)
      for (const word of named) expect(tools, id).toContain(word)
      expect(name, id).toMatch(/\w{3}/)
      expect(tags.length, id).toBeGreaterThan(0)
      expect(examples.length, id).toBeGreaterThan(0)
    }
    for (const piece of [`${BASE_URL}/mcp`, '@referrer/signer']) {
      expect(card.body.description).toContain(piece)
    }
    expect(card.body.documentationUrl).toBe(`${BASE_URL}/skill.md`)
  })

  it('gives examples that are answered', async () => {
    for (const { id, examples } of card.body.skills) {
      for (const example of examples as string[]) {
        const part = example.startsWith('{') ? { data: JSON.parse(example) } : { text: example }
        const { body } = await m.call('POST', '/a2a', {
          headers: { 'a2a-version': '1.0' },
          body: {
            ...{ jsonrpc: '2.0', id, method: 'SendMessage' },
            params: { message: { messageId: 'm', role: 'ROLE_USER', parts: [part] } },
          },
        })
        expect(body.result?.message.parts[0].text, example).toMatch(/\w{3}/)
        expect(JSON.stringify(body), example).not.toContain('"error"')
      }
    }
  })

  it('is named by the manifest', async () => {
    const { docs } = (await m.call('GET', '/.well-known/referrer-agent')).body
    expect(docs.agentCard).toBe(`${BASE_URL}${PATH}`)
  })
})
