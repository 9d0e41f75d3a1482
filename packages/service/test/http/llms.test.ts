// llms.txt, in the format of llmstxt.org.
import { buildConsole, openConsole } from '@referrer/console'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from './caller.ts'
import { BASE_URL, startTestMarket, type TestMarket } from './market.ts'

const PATH = '/llms.txt'
const LINK = /^- \[([^\]]+)\]\((https:\/\/[^)\s]+)\): (\S.*)$/

let m: TestMarket
let llms: Answer
beforeAll(async () => {
  m = await startTestMarket({ overrides: { console: await openConsole(await buildConsole()) } })
  llms = await m.call('GET', PATH)
})
afterAll(() => m?.close())

/** The links of each section, by its title. */
function sectionsOf(text: string): Map<string, { title: string; url: string }[]> {
  const [, ...sections] = text.split(/^## /m)
  return new Map(
    sections.map((section) => {
      const [title = '', ...lines] = section.split('\n')
      const links = lines
        .filter((line) => line !== '')
        .map((line) => {
          const [, name = '', url = ''] = LINK.exec(line) ?? expect.fail(`this is no link: ${line}`)
          return { title: name, url }
        })
      return [title, links] as const
    }),
  )
}

describe('GET /llms.txt', () => {
  it('is text for everybody, which may be kept for an hour', async () => {
    expect(llms.status).toBe(200)
    expect(llms.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(llms.headers.get('cache-control')).toBe('public, max-age=3600')
    const etag = llms.headers.get('etag') ?? ''
    const elsewhere = { origin: 'https://elsewhere.test' }
    const again = await m.call('GET', PATH, { headers: { ...elsewhere, 'if-none-match': `W/${etag}` } })
    expect([again.status, again.text]).toEqual([304, ''])
    expect(again.headers.get('access-control-allow-origin')).toBe('*')
    const head = await m.call('HEAD', PATH)
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', etag])
  })

  it('has one title, a quote that says what this is, and sections of links', () => {
    expect(llms.text).toMatch(/^# [^\n]+\n\n> \S[^\n]{80,}\n\n/)
    expect(llms.text.match(/^# /gm)).toHaveLength(1)
    expect([...sectionsOf(llms.text).keys()]).toEqual(['For agents', 'Routes', 'Optional'])
    for (const links of sectionsOf(llms.text).values()) expect(links.length).toBeGreaterThan(1)
    expect(llms.text).toContain(`${BASE_URL}/mcp`)
  })

  it('leads to documents and pages that are there', async () => {
    const links = [...sectionsOf(llms.text).values()].flat()
    expect(new Set(links.map(({ url }) => url)).size).toBe(links.length)
    for (const { url } of links) {
      expect(url).toMatch(/^https:\/\/market\.test\//)
      const answer = await m.call('GET', url.slice(BASE_URL.length))
      expect([url, answer.status]).toEqual([url, 200])
      expect(answer.text.length, url).toBeGreaterThan(1)
    }
    expect(links.map(({ url }) => url)).toEqual(
      expect.arrayContaining([`${BASE_URL}/discover`, `${BASE_URL}/discovery/resources`]),
    )
  })

  it('is named by the manifest', async () => {
    const { docs } = (await m.call('GET', '/.well-known/referrer-agent')).body
    expect(docs.llms).toBe(`${BASE_URL}${PATH}`)
  })
})

describe('without a console', () => {
  it('names no page that is not there, and the facilitator where there is one', async () => {
    const bare = await startTestMarket({ env: { FACILITATOR_URL: 'https://pay.test' } })
    try {
      const { text } = await bare.call('GET', PATH)
      const links = [...sectionsOf(text).values()].flat()
      const own = links.filter(({ url }) => url.startsWith(`${BASE_URL}/`))
      for (const { url } of own) {
        const { status } = await bare.call('GET', url.slice(BASE_URL.length))
        expect([url, status]).toEqual([url, 200])
      }
      const others = links.filter((link) => !own.includes(link))
      expect(others.map(({ url }) => url)).toEqual(['https://pay.test/openapi.json'])
    } finally {
      await bare.close()
    }
  })
})
