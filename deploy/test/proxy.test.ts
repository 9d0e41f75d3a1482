import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request as plainRequest, type Server } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { freePort } from '@referrer/net/free-port'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { read } from './files.ts'
import { checkFiles, findNginx, HOSTS, type Ports, type RunningProxy, startProxy } from './nginx.ts'

interface Seen {
  by: string
  method: string
  path: string
  headers: IncomingHttpHeaders
  bytes: number
}

const program = findNginx()

describe('the files of the proxy', () => {
  test('send nobody to what is for operators alone', () => {
    const servers = read('proxy/templates/market.conf.template').split(/^server \{/m)
    const forwarding = servers.filter((server) => server.includes('proxy_pass'))
    expect(forwarding).toHaveLength(2)
    for (const server of forwarding) expect(server).toContain('location ~ ^/(metrics|healthz|readyz)/*$')
  })

  test('limit requests and connections of an address', () => {
    expect(read('proxy/nginx.conf')).toMatch(/limit_req_zone \$binary_remote_addr zone=requests:/)
    expect(read('proxy/nginx.conf')).toMatch(/limit_conn_zone \$binary_remote_addr zone=connections:/)
    const servers = read('proxy/templates/market.conf.template').split(/^server \{/m)
    for (const server of servers.filter((text) => text.includes('proxy_pass'))) {
      expect(server).toMatch(/limit_req zone=requests burst=\d+ nodelay;/)
      expect(server).toMatch(/limit_conn connections \d+;/)
    }
  })

  test('replace what callers say of where they come from', () => {
    expect(read('proxy/forward.conf')).toContain('proxy_set_header X-Forwarded-For $remote_addr;')
  })
})

// Needs nginx 1.27.3 or newer, on the path or named by TEST_NGINX, and openssl.
describe.runIf(program)('nginx with the files of the proxy', () => {
  const seen: Seen[] = []
  const servers: Server[] = []
  let ports: Ports
  let proxy: RunningProxy

  /** Tells what it got. */
  async function echo(by: string): Promise<number> {
    const server = createServer(async (incoming, answer) => {
      let bytes = 0
      for await (const piece of incoming) bytes += piece.length
      const { method = '', url = '', headers } = incoming
      seen.push({ by, method, path: url, headers, bytes })
      answer.end(by)
    })
    servers.push(server.listen(0, '127.0.0.1'))
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  interface Asked {
    host?: string
    method?: string
    headers?: Record<string, string>
    body?: Buffer
  }

  /** The path goes out as it is given. */
  async function ask(
    path: string,
    { host = HOSTS.MARKET_HOST, method = 'GET', headers = {}, body }: Asked = {},
  ) {
    const asking = request({
      host: '127.0.0.1',
      port: ports.https,
      servername: host,
      ca: proxy.certificate,
      path,
      method,
      headers: { host, ...headers },
      agent: false,
    })
    // nginx refuses a large body before it has read it.
    const answered = new Promise<number>((resolve, reject) => {
      asking.on('response', (answer) => {
        answer.resume().on('error', () => {})
        resolve(answer.statusCode ?? 0)
      })
      asking.on('error', reject)
    })
    asking.end(body)
    return await answered
  }

  beforeAll(async () => {
    const market = [await echo('api 1'), await echo('api 2')] as const
    ports = { http: await freePort(), https: await freePort(), market, pay: await echo('facilitator') }
    proxy = await startProxy(program as string, ports)
  })

  afterAll(async () => {
    await proxy?.stop()
    for (const server of servers) server.close()
  })

  test('are accepted, also with the upstreams of compose.yaml', () => {
    expect(checkFiles(program as string, ports)).toEqual({ status: 0, said: '' })
  })

  test('forward to the market and to the facilitator by their names', async () => {
    expect(await ask('/v1/agents?limit=1')).toBe(200)
    expect(seen.at(-1)).toMatchObject({ by: expect.stringMatching(/^api/), path: '/v1/agents?limit=1' })
    expect(await ask('/supported', { host: HOSTS.PAY_HOST })).toBe(200)
    expect(seen.at(-1)).toMatchObject({ by: 'facilitator', path: '/supported' })
  })

  test('say who the caller is, whatever the caller says', async () => {
    await ask('/', {
      headers: { 'x-forwarded-for': '9.9.9.9', 'x-forwarded-proto': 'http', 'x-forwarded-host': 'evil' },
    })
    expect(seen.at(-1)?.headers).toMatchObject({
      host: HOSTS.MARKET_HOST,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': HOSTS.MARKET_HOST,
    })
  })

  test('hide what is for operators, however it is spelt', async () => {
    const before = seen.length
    const names = ['metrics', 'healthz', 'readyz']
    const spellings = names.flatMap((name) => [
      `/${name}`,
      `/${name}/`,
      `//${name}`,
      `/${name}?x=1`,
      `/x/../${name}`,
      `/%${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
    ])
    for (const host of Object.values(HOSTS)) {
      for (const path of spellings) expect([path, await ask(path, { host })]).toEqual([path, 404])
    }
    expect(seen).toHaveLength(before)
  })

  test('take the largest bodies that the programs take, and none above', async () => {
    const send = (host: string, size: number) =>
      ask('/mcp', { host, method: 'POST', body: Buffer.alloc(size) })
    expect(await send(HOSTS.MARKET_HOST, 2 * 1024 * 1024)).toBe(200)
    expect(seen.at(-1)?.bytes).toBe(2 * 1024 * 1024)
    expect(await send(HOSTS.PAY_HOST, 64 * 1024)).toBe(200)
    expect(await send(HOSTS.PAY_HOST, 64 * 1024 + 1)).toBe(413)
  })

  test('use both replicas, and one alone when the other is gone', async () => {
    seen.length = 0
    for (let at = 0; at < 8; at += 1) await ask('/')
    expect(new Set(seen.map(({ by }) => by))).toEqual(new Set(['api 1', 'api 2']))
    servers[1]?.closeAllConnections()
    servers[1]?.close()
    seen.length = 0
    for (let at = 0; at < 8; at += 1) expect(await ask('/', { method: 'POST' })).toBe(200)
    expect(seen.map(({ by }) => by)).toEqual(Array(8).fill('api 1'))
  })

  test('send plain HTTP to HTTPS, but for the challenges of certificates', async () => {
    const plain = async (host: string, path: string) => {
      const asking = plainRequest({
        host: '127.0.0.1',
        port: ports.http,
        path,
        headers: { host },
        agent: false,
      }).end()
      const [answer] = await once(asking, 'response')
      return [answer.resume().statusCode, answer.headers.location]
    }
    expect(await plain(HOSTS.PAY_HOST, '/verify?x')).toEqual([308, 'https://pay.test/verify?x'])
    expect(await plain(HOSTS.MARKET_HOST, '/.well-known/acme-challenge/token')).toEqual([200, undefined])
    await expect(plain('other.test', '/')).rejects.toThrow(/socket hang up|ECONNRESET/)
  })

  test('refuse the handshake with names that are not ours', async () => {
    await expect(ask('/', { host: 'other.test' })).rejects.toThrow(/unrecognized.name/)
  })
})
