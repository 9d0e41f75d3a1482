import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import * as https from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { guardedFetch, HostNotAllowed, Unreachable } from './guarded-fetch.ts'
import { denying } from './lookup.ts'
import { SHOP_TEST } from './tls.fixture.ts'

/** Public by its number, and nobody's since the 6bone was given up: tests send nothing to strangers. */
const PUBLIC = '3ffe::1'
const guarded = { allowPrivateHosts: false }
const open = { allowPrivateHosts: true }

/** Answers with these, one lookup after the other; the last one for good. */
function namesFor(...answers: string[][]) {
  const asked: string[] = []
  const lookup = async (host: string) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? []
    asked.push(host)
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { asked, lookup }
}
const nowhere = async () => {
  throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
}

const servers: Server[] = []
const sockets = new Set<Socket>()
async function listen<S extends Server>(server: S): Promise<number> {
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
const serve = (answer: RequestListener) => listen(createServer(answer))
/** A server that says whatever it likes when somebody connects. */
const speak = (say: (socket: Socket) => void) => listen(createTcpServer(say))

afterEach(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers) server.close()
  sockets.clear()
  servers.length = 0
})

const toShop = { ...open, lookup: namesFor(['127.0.0.1']).lookup }
const shop = (port: number, path = '/') => new URL(`http://shop.test:${port}${path}`)
const unreachable = (message: string) =>
  expect.objectContaining({ constructor: Unreachable, message }) as unknown as Error

describe('hosts', () => {
  it.each([
    ['http://127.0.0.1/', 'loopback'],
    ['http://0x7f.1/', 'loopback in hex'],
    ['http://2130706433/', 'loopback as a number'],
    ['http://127.1/', 'loopback, short'],
    ['http://127.0.0.1./', 'loopback with a dot'],
    ['http://[::ffff:7f00:1]/', 'loopback mapped to IPv6'],
    ['http://[64:ff9b::7f00:1]/', 'loopback through NAT64'],
    ['http://169.254.169.254/', 'the metadata of a cloud'],
    ['ftp://shop.test/', 'a protocol that is not the web'],
    ['file:///etc/passwd', 'a file'],
    ['http://user:secret@shop.test/', 'credentials'],
  ])('refuses %s: %s', async (url) => {
    const { asked, lookup } = namesFor([PUBLIC])
    await expect(guardedFetch({ ...guarded, lookup }, new URL(url))).rejects.toThrow(HostNotAllowed)
    expect(asked).toEqual([])
  })

  it.each([
    ['loopback', ['127.0.0.1']],
    ['a private address', ['10.0.0.1']],
    ['loopback of IPv6', ['::1']],
    ['mapped loopback', ['::ffff:127.0.0.1']],
    ['a private address among public ones', [PUBLIC, '192.168.0.1']],
    ['no address', []],
  ])('refuses a name that stands for %s', async (_what, addresses) => {
    const { lookup } = namesFor(addresses)
    const fetched = guardedFetch({ ...guarded, lookup }, new URL('http://shop.test/'))
    await expect(fetched).rejects.toThrow(HostNotAllowed)
  })

  it('refuses a name that cannot be resolved', async () => {
    const fetched = guardedFetch({ ...open, lookup: nowhere }, new URL('http://nowhere.test/'))
    await expect(fetched).rejects.toThrow(HostNotAllowed)
  })

  it('gives up a name that is not resolved in time, and goes on resolving others', async () => {
    const silent = () => new Promise<never>(() => {})
    const silence = guardedFetch({ ...open, lookup: silent }, new URL('http://slow.test/'), { timeoutMs: 50 })
    await expect(silence).rejects.toThrow(HostNotAllowed)
    const port = await serve((_request, response) => response.end('hello'))
    await expect(guardedFetch(toShop, shop(port))).resolves.toMatchObject({ status: 200 })
  })

  it('resolves the names of others while the name servers of a few sites are silent', async () => {
    const asked: string[] = []
    const lookup = async (host: string) => {
      if (host === 'shop.test') return [{ address: '127.0.0.1', family: 4 }]
      asked.push(host.split('.').slice(-2).join('.'))
      return new Promise<never>(() => {})
    }
    const end = new AbortController()
    const ask = (url: string) => guardedFetch({ ...open, lookup }, new URL(url), { signal: end.signal })
    const sites = Array.from({ length: 15 }, (_, at) => `silent${at}.test`)
    const silent = sites.flatMap((site) =>
      Array.from({ length: 40 }, (_, at) => expect(ask(`http://a${at}.${site}/`)).rejects.toThrow()),
    )
    const port = await serve((_request, response) => response.end('hello'))
    await expect(ask(`http://shop.test:${port}/`)).resolves.toMatchObject({ status: 200 })
    expect(sites.map((site) => asked.filter((one) => one === site).length)).toEqual(sites.map(() => 8))
    end.abort()
    await Promise.all(silent)
  })

  it('refuses all but loopback even where hosts on this machine are allowed', async () => {
    for (const address of ['169.254.169.254', '10.0.0.1', '192.168.1.1', 'fd00::1']) {
      const { lookup } = namesFor([address])
      const fetched = guardedFetch({ ...open, lookup }, new URL('http://metadata.test/'))
      await expect(fetched).rejects.toThrow(HostNotAllowed)
    }
  })

  it('refuses the metadata of a cloud even for an address of our own configuration', async () => {
    const { lookup } = namesFor(['169.254.169.254'])
    const fetched = guardedFetch({ ...open, isOurs: true, lookup }, new URL('http://metadata.test/'))
    await expect(fetched).rejects.toThrow(HostNotAllowed)
  })

  it('refuses the networks that the operator keeps to itself, by number, by name and through NAT64', async () => {
    const denied = ['5.5.0.0/16', '6.6.6.6', '2001:470:1::/48']
    const at = (address: string) => {
      const lookup = denying(namesFor([address]).lookup, denied)
      const refused = (url: string) =>
        guardedFetch({ ...guarded, lookup }, new URL(url), { timeoutMs: 1_000 })
      return Promise.allSettled([refused('http://shop.test/'), refused(`http://${hostIn(address)}/`)])
    }
    const hostIn = (address: string) => (address.includes(':') ? `[${address}]` : address)
    const told = async (address: string) =>
      (await at(address)).map((one) => one.status === 'rejected' && one.reason.constructor)
    for (const address of ['5.5.5.5', '6.6.6.6', '2001:470:1::5', '64:ff9b::505:505'])
      expect(await told(address), address).toEqual([HostNotAllowed, HostNotAllowed])
    expect(await told(PUBLIC), 'beside them').toEqual([Unreachable, Unreachable])
  })

  it('resolves a name once: one that turns to loopback afterwards is not followed there', async () => {
    let hits = 0
    const port = await serve((_request, response) => {
      hits += 1
      response.end()
    })
    const { asked, lookup } = namesFor([PUBLIC], ['127.0.0.1'])
    const fetched = guardedFetch({ ...guarded, lookup }, shop(port), { timeoutMs: 300 })
    await expect(fetched).rejects.toThrow(Unreachable)
    expect(asked).toEqual(['shop.test'])
    expect(hits).toBe(0)
  })

  it('connects to the address that was checked and keeps the name in the request', async () => {
    const port = await serve((request, response) => response.end(request.headers.host))
    const { asked, lookup } = namesFor(['127.0.0.1'], ['10.255.255.1'])
    const { status, body } = await guardedFetch({ ...open, lookup }, shop(port))
    expect([status, String(body)]).toEqual([200, `shop.test:${port}`])
    expect(asked).toEqual(['shop.test'])
  })

  it('tries the other addresses of a host', async () => {
    const port = await serve((_request, response) => response.end('hello'))
    const { lookup } = namesFor(['::1', '127.0.0.1'])
    await expect(guardedFetch({ ...open, lookup }, shop(port))).resolves.toMatchObject({ status: 200 })
  })
})

describe('answers', () => {
  it('come with status, headers and body', async () => {
    const seen: unknown[] = []
    const port = await serve(({ method, url, headers }, response) => {
      seen.push([method, url, headers['x-probe'], headers['accept-encoding']])
      response.writeHead(402, { 'x-shop': 'yes' }).end('{"a":1}')
    })
    const options = { headers: { 'x-probe': 'one', 'accept-encoding': 'gzip' } }
    const { status, headers, body } = await guardedFetch(toShop, shop(port, '/buy?x=1'), options)
    expect([status, headers['x-shop'], String(body)]).toEqual([402, 'yes', '{"a":1}'])
    expect(seen).toEqual([['GET', '/buy?x=1', 'one', 'identity']])
  })

  it('come to what is posted, too', async () => {
    const port = await serve(async (request, response) => {
      response.end(`${request.method} ${request.headers['content-type']} ${await text(request)}`)
    })
    const posted = { headers: { 'content-type': 'application/json' }, body: '{"text":"Größe"}' }
    const url = new URL(`http://127.0.0.1:${port}/`)
    const { body } = await guardedFetch({ ...open, lookup: nowhere }, url, posted)
    expect(body.toString()).toBe('POST application/json {"text":"Größe"}')
  })

  it('are shown as they are when they lead elsewhere', async () => {
    const paths: (string | undefined)[] = []
    const port = await serve(({ url }, response) => {
      paths.push(url)
      response.writeHead(302, { location: '/secret' }).end()
    })
    await expect(guardedFetch(toShop, shop(port, '/buy'))).resolves.toMatchObject({ status: 302 })
    expect(paths).toEqual(['/buy'])
  })

  it('may be as long as the limit and not a byte longer', async () => {
    const port = await serve((_request, response) => response.end('x'.repeat(1_000)))
    const { body } = await guardedFetch(toShop, shop(port), { maxBytes: 1_000 })
    expect(body.length).toBe(1_000)
    const longer = guardedFetch(toShop, shop(port), { maxBytes: 999 })
    await expect(longer).rejects.toEqual(unreachable('more than 999 bytes'))
  })

  it('that are longer than the limit are not read on, and the connection is closed', async () => {
    const closed = Promise.withResolvers<void>()
    const port = await serve((request, response) => {
      request.socket.on('close', () => closed.resolve())
      const more = () => {
        while (response.write('x'.repeat(10_000)));
      }
      response.on('drain', more)
      more()
    })
    const fetched = guardedFetch(toShop, shop(port), { maxBytes: 50_000 })
    await expect(fetched).rejects.toEqual(unreachable('more than 50000 bytes'))
    await closed.promise
  })

  it('that are longer than the limit are cut for callers who want that, and the connection is closed', async () => {
    const closed = Promise.withResolvers<void>()
    const port = await serve((request, response) => {
      request.socket.on('close', () => closed.resolve())
      const more = () => {
        while (response.write('x'.repeat(10_000)));
      }
      response.on('drain', more)
      more()
    })
    const { status, body } = await guardedFetch(toShop, shop(port), { maxBytes: 4_096, cuts: true })
    expect([status, body.length]).toEqual([200, 4_096])
    await closed.promise
  })

  it.each<[string, string, (socket: Socket) => void]>([
    ['is silent', 'timed out', () => {}],
    ['sends its headers byte by byte', 'timed out', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-a: ')],
    ['sends its body byte by byte', 'timed out', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n\r\n')],
    [
      'sends nothing but interim answers',
      'timed out',
      (socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    ],
    ['hangs up', 'connection failed', (socket) => socket.destroy()],
    [
      'hangs up in the middle',
      'connection failed',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
    ],
    ['does not speak HTTP', 'no valid HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
    [
      'sends endless headers',
      'no valid HTTP',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`),
    ],
    [
      'changes the protocol',
      'connection failed',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
  ])('are none when the server %s', async (_what, reason, say) => {
    const port = await speak((socket) => socket.once('data', () => say(socket)))
    const timeoutMs = reason === 'timed out' ? 1_000 : 20_000
    await expect(guardedFetch(toShop, shop(port), { timeoutMs })).rejects.toEqual(unreachable(reason))
  })

  it('are none when whoever asked no longer waits, and the connection is closed', async () => {
    const end = new AbortController()
    const closed = Promise.withResolvers<void>()
    const port = await serve(({ socket }) => {
      socket.on('close', () => closed.resolve())
      end.abort()
    })
    const fetched = guardedFetch(toShop, shop(port), { signal: end.signal })
    await expect(fetched).rejects.toEqual(unreachable('timed out'))
    await closed.promise
  })

  it('are none when nobody listens', async () => {
    const port = await serve(() => {})
    servers.splice(0).map((server) => server.close())
    await expect(guardedFetch(toShop, shop(port))).rejects.toEqual(unreachable('connection refused'))
  })
})

describe('a flood', () => {
  it.each([
    ['interim answers', '', 'HTTP/1.1 103 E\r\n\r\n'],
    [
      'sizes of chunks',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
      `1;${'x'.repeat(1_000)}\r\na\r\n`,
    ],
    ['trailers', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n', 'a: b\r\n'],
  ])('of %s ends at the bound of bytes, and costs little', async (_what, start, drop) => {
    const drops = Buffer.from(drop.repeat(Math.ceil(65_536 / drop.length)))
    let sent = 0
    const port = await speak((socket) => {
      socket.write(start)
      const pour = () => {
        while (!socket.destroyed && socket.write(drops)) sent += drops.length
      }
      socket.on('drain', pour)
      socket.once('data', pour)
    })
    const before = process.cpuUsage()
    await expect(guardedFetch(toShop, shop(port), { timeoutMs: 20_000, maxBytes: 10_000 })).rejects.toEqual(
      expect.objectContaining({
        message: expect.stringMatching(/^(more than 10000 bytes|no valid HTTP|connection failed)$/),
      }),
    )
    const { user, system } = process.cpuUsage(before)
    // The server is in this process, too; without a bound this is seconds.
    expect((user + system) / 1_000).toBeLessThan(400)
    expect(sent).toBeLessThan(8 * 1024 * 1024)
  })
})

/** Something every 20 ms, so that no pause looks like an end. */
function drip(socket: Socket, start: string, drop = 'x'): void {
  socket.write(start)
  const timer = setInterval(() => socket.write(drop), 20)
  socket.on('close', () => clearInterval(timer))
}

describe('TLS', () => {
  const secure = () => listen(https.createServer(SHOP_TEST, (_request, response) => response.end('hello')))

  it('is no answer when the certificate is nobody’s', async () => {
    const port = await secure()
    const fetched = guardedFetch(toShop, new URL(`https://shop.test:${port}/`))
    await expect(fetched).rejects.toEqual(unreachable('no valid TLS'))
  })

  it('is held to the name of the host, not to the address', async () => {
    const port = await secure()
    const before = getCACertificates('default')
    setDefaultCACertificates([...before, SHOP_TEST.cert])
    try {
      await expect(guardedFetch(toShop, new URL(`https://shop.test:${port}/`))).resolves.toMatchObject({
        status: 200,
      })
      const other = guardedFetch(toShop, new URL(`https://other.test:${port}/`))
      await expect(other).rejects.toEqual(unreachable('no valid TLS'))
    } finally {
      setDefaultCACertificates(before)
    }
  })

  it('is no answer when the server speaks plain HTTP', async () => {
    const port = await serve((_request, response) => response.end())
    const fetched = guardedFetch(toShop, new URL(`https://shop.test:${port}/`))
    await expect(fetched).rejects.toEqual(unreachable('no valid TLS'))
  })
})
