import { connect, type Socket } from 'node:net'
import type { Sql } from '@referrer/database'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testApp } from '../../app/testing.ts'
import { testConfig, testContext } from './testing.ts'

const MEGABYTE = 1024 * 1024
/** Time limit of polls; on a busy machine a large answer takes longer than the default second. */
const PATIENCE = { timeout: 20_000 }

let app: FastifyInstance
let url: URL
let sockets: Socket[]

beforeEach(() => start('30000'))

/** An answer that nobody reads is let go some seconds after this time. */
async function start(ANSWER_TIMEOUT_MS: string): Promise<void> {
  const config = testConfig({ LOG_LEVEL: 'silent', ANSWER_TIMEOUT_MS, TRUSTED_PROXIES: '127.0.0.1' })
  const { context } = testContext({} as Sql, { config })
  app = testApp(context)
  app.get('/large', async () => Buffer.alloc(40 * MEGABYTE, 'x'))
  app.get('/text', async () => 'x'.repeat(40 * MEGABYTE))
  app.post('/body', { bodyLimit: 2 * 1024 * 1024 }, async () => 'thanks')
  app.get('/larger', async () => Buffer.alloc(70 * MEGABYTE, 'x'))
  url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  sockets = []
}
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await app.close()
})

/** Sends a request and does not read the answer; resolves when the answer has begun. */
async function ask(path: string, client = '198.51.100.1'): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname)
  sockets.push(socket)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\nX-Forwarded-For: ${client}\r\n\r\n`)
  await expect.poll(() => socket.readableLength, PATIENCE).toBeGreaterThan(0)
  socket.pause()
  return socket
}

async function get(path: string, client = '198.51.100.1') {
  const response = await fetch(new URL(path, url), { headers: { 'x-forwarded-for': client } })
  const { status, headers } = response
  return { status, headers, text: await response.text() }
}

/** Sends the beginning of a body and never its end. */
function upload(head: string): Socket {
  const socket = connect(Number(url.port), url.hostname)
  sockets.push(socket)
  socket.write(`POST /body HTTP/1.1\r\nHost: test\r\nX-Forwarded-For: 198.51.100.1\r\n${head}\r\n\r\n`)
  return socket
}

describe('large bodies', () => {
  const LARGEST = 2 * MEGABYTE
  const post = async (size: number) => {
    const headers = { 'x-forwarded-for': '198.51.100.1' }
    const { status } = await fetch(new URL('/body', url), { method: 'POST', headers, body: 'x'.repeat(size) })
    return status
  }

  it.each([`Content-Length: ${LARGEST}`, 'Transfer-Encoding: chunked'])(
    'that do not end (%s) keep a client from sending more',
    async (head) => {
      const begun = Array.from({ length: 32 }, () => upload(head))
      await expect.poll(() => post(LARGEST), PATIENCE).toBe(429)
      expect(await post(1_000)).toBe(200)
      for (const socket of begun) socket.destroy()
      await expect.poll(() => post(LARGEST), PATIENCE).toBe(200)
    },
  )
})

describe('large answers', () => {
  it.each(['/large', '/text'])('of %s wait for a client to read those before', async (path) => {
    const unread = await ask(path)
    const refused = await get(path)
    expect([refused.status, refused.text]).toEqual([429, '{"error":"rate limited"}'])
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect((await get(path, '198.51.100.2')).status).toBe(200)
    expect((await get('/healthz')).status).toBe(200)
    unread.destroy()
    await expect.poll(async () => (await get(path)).status, PATIENCE).toBe(200)
    expect((await get(path)).status).toBe(200)
  })

  it('pass alone, whatever their size', async () => {
    expect((await get('/larger')).text).toHaveLength(70 * MEGABYTE)
    expect((await get('/larger')).status).toBe(200)
  })

  it('are let go when nobody reads them', async () => {
    await app.close()
    // Long enough to ask a second time meanwhile on a busy machine.
    await start('5000')
    await ask('/large')
    expect((await get('/large')).status).toBe(429)
    await expect.poll(async () => (await get('/large')).status, { timeout: 40_000, interval: 500 }).toBe(200)
  })
})
