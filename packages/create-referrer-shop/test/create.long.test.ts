// From an empty folder to the first sale, with each framework.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressIn } from '@referrer/client/keystore'
import type { Reporter } from '@referrer/merchant/shop'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createShop } from '../src/create.ts'
import { OWNER_KEY, ownerOf } from '../src/keys.ts'
import { PATIENCE_MS, type Shops, startShops } from './shops.ts'

let shops: Shops
beforeAll(async () => {
  shops = await startShops()
}, PATIENCE_MS)
afterAll(() => shops?.end())

const SERVER = ['--env-file=.env', 'server.js']
/** Next passes its route handlers the same `Request`. */
const ROUTE_HANDLERS = `
  import { serve } from '@hono/node-server'
  import { GET, POST } from './app/buy/route.js'
  const port = Number(process.env.PORT)
  serve({ fetch: (request) => (request.method === 'GET' ? GET(request) : POST(request)), port }, () => console.log('selling at'))`

const steps = (out: string) => out.split('\n').filter((line) => /^[+=] /.test(line))

describe.each(['hono', 'express', 'fastify'])('a shop with %s', (framework) => {
  const name = `shop-with-${framework}`

  it('is made from an empty folder, is ready, and sells', { timeout: PATIENCE_MS }, async () => {
    const args = [
      '--framework',
      framework,
      '--name',
      `O'Neil's "jokes"`,
      '--price',
      '0.20',
      '--commission',
      '12.5',
    ]
    const made = await shops.create([name, ...shops.flags, ...args, '--no-install'])
    expect([made.code, made.err]).toEqual([0, ''])
    shops.install(name)
    const done = await shops.create([name, ...shops.flags])
    expect([done.code, done.out]).toEqual([0, expect.stringContaining('= ready')])

    const stop = await shops.serve(name, SERVER)
    try {
      const { code, out, err } = await shops.command(name, ['demo-sale', '--json'])
      expect([code, err.replace(/^….*\n/gm, '')]).toEqual([0, ''])
      const sale = JSON.parse(out)
      // 12.5 % of 0.20, and 70 % of that for a reviewer without a rank.
      expect(sale).toMatchObject({
        split: {
          price: '0.2',
          merchant: '0.1825',
          reviewer: '0.007875',
          heldBack: '0.007875',
          fee: '0.00175',
          cashback: '0',
        },
        answer: { product: `O'Neil's "jokes"`, transaction: sale.transaction },
      })
      const checked = await shops.command(name, ['check', '--json'])
      const { pass, checks } = JSON.parse(checked.out)
      expect([
        pass,
        checks.some((check: { name: string }) => check.name === 'signing_key_may_settle'),
      ]).toEqual([true, true])
      const stats = await shops.command(name, ['stats', '--json'])
      expect(JSON.parse(stats.out)).toMatchObject({
        sales: 1,
        revenue: '0.2',
        products: [{ isOpen: true, reviews: 1 }],
      })
    } finally {
      await stop()
    }
  })
})

describe('a shop with Next', () => {
  it('has a route handler that sells', { timeout: PATIENCE_MS }, async () => {
    const made = await shops.create(['nextly', ...shops.flags, '--framework', 'next', '--no-install'])
    expect([made.code, made.err]).toEqual([0, ''])
    expect(made.out).toContain('npx referrer-merchant describe --endpoint http://127.0.0.1:')
    const manifest = JSON.parse(readFileSync(join(shops.directory('nextly'), 'package.json'), 'utf8'))
    expect(manifest.scripts.dev).toMatch(/^next dev --port \d+$/)
    shops.install('nextly')
    const stop = await shops.serve('nextly', ['--env-file=.env', '--input-type=module', '-e', ROUTE_HANDLERS])
    try {
      const [endpoint = ''] = /http:\/\/127\S+\/buy/.exec(made.out) ?? []
      expect(await shops.command('nextly', ['describe', '--endpoint', endpoint])).toMatchObject({ code: 0 })
      const { out } = await shops.command('nextly', ['demo-sale', '--json'])
      expect(JSON.parse(out)).toMatchObject({ split: { price: '0.05' }, answer: { product: 'nextly' } })
    } finally {
      await stop()
    }
  })
})

describe('what is written', () => {
  it('stays as it is when all is run again', { timeout: PATIENCE_MS }, async () => {
    const before = snapshot(shops.directory('shop-with-hono'))
    const { code, out } = await shops.create(['shop-with-hono', ...shops.flags])
    expect(code).toBe(0)
    expect(steps(out).filter((line) => !line.startsWith('= '))).toEqual([])
    expect(snapshot(shops.directory('shop-with-hono'))).toEqual(before)
  })

  it('keeps both keys from others, and no secret in the project file', () => {
    const directory = shops.directory('shop-with-hono')
    const mode = (path: string) => statSync(join(directory, path)).mode & 0o777
    expect([mode('.env'), mode('.referrer/owner-key.json')]).toEqual([0o600, 0o600])
    expect(readFileSync(join(directory, '.gitignore'), 'utf8').split('\n')).toEqual(
      expect.arrayContaining(['.env', '.referrer', 'node_modules']),
    )
    const [, key = ''] =
      /^MERCHANT_SIGNING_KEY=(0x[0-9a-f]{64})$/m.exec(readFileSync(join(directory, '.env'), 'utf8')) ?? []
    const others = readdirSync(directory).filter(
      (file) => !['.env', '.referrer', 'node_modules'].includes(file),
    )
    for (const file of others) expect(readFileSync(join(directory, file), 'utf8')).not.toContain(key)
    expect(key).not.toBe('')
  })
})

describe("the owner's key", () => {
  it('is cheap to open only where its password is the one that everybody knows', async () => {
    const costOf = async (name: string, env: Record<string, string>) => {
      const directory = shops.directory(name)
      const owner = await ownerOf({ directory, env, isSandbox: true, isInteractive: false })
      expect(await owner.keep()).toBe(true)
      return JSON.parse(readFileSync(join(directory, OWNER_KEY), 'utf8')).crypto.kdfparams.n
    }
    expect(await costOf('public', {})).toBe(4_096)
    expect(await costOf('secret', { REFERRER_PASSWORD: 'correct horse' })).toBe(262_144)
  })
})

describe('a shop that is begun', () => {
  it('has its keys out of the reach of git before they are there', { timeout: PATIENCE_MS }, async () => {
    const directory = shops.directory('begun')
    const { baseUrl: market, rpcUrl: rpc } = shops.sandbox.state
    const seen: [string, string[]][] = []
    const reporter: Reporter = {
      step: ({ name }) => void seen.push([name, readdirSync(directory)]),
      during: (_what, work) => work,
    }
    const options = {
      directory,
      given: { market, rpc },
      isInstalled: false,
      mayAsk: false,
      env: { PORT: '3200' },
      reporter,
    }
    await createShop(options)
    expect(seen.find(([name]) => name === 'owner')).toEqual([
      'owner',
      ['.gitignore', '.referrer', 'referrer.json'],
    ])
  })

  it('sells its own product, whatever else is listed from its folder', { timeout: PATIENCE_MS }, async () => {
    shops.install('begun')
    const terms = ['--price', '0.01', '--commission', '50']
    expect(await shops.command('begun', ['list', '--name', '2024', ...terms])).toMatchObject({ code: 0 })
    const stop = await shops.serve('begun', SERVER)
    try {
      const port = /^PORT=(\d+)$/m.exec(readFileSync(join(shops.directory('begun'), '.env'), 'utf8'))?.[1]
      const endpoint = `http://127.0.0.1:${port}/buy`
      const described = ['describe', '--product', 'begun', '--endpoint', endpoint]
      expect(await shops.command('begun', described)).toMatchObject({ code: 0 })
      const { out } = await shops.command('begun', ['demo-sale', '--product', 'begun', '--json'])
      const { refLink, split } = JSON.parse(out)
      // 10 % of 0.05, and 70 % of that for a reviewer without a rank.
      expect(split).toMatchObject({ price: '0.05', merchant: '0.0465' })
      const { token } = await (await fetch(refLink)).json()
      const offer = await (await fetch(endpoint, { headers: { 'x-referrer-token': token } })).json()
      expect(offer.accepts[0].extra).not.toHaveProperty('productId')
    } finally {
      await stop()
    }
  })

  it('is looked at where its own files say, whatever the shell says', { timeout: PATIENCE_MS }, async () => {
    vi.stubEnv('PORT', '9')
    vi.stubEnv('HOST', 'nowhere.invalid')
    vi.stubEnv('MERCHANT_SIGNING_KEY', `0x${'11'.repeat(32)}`)
    try {
      const { code, err } = await shops.create(['begun', ...shops.flags])
      expect([code, err]).toEqual([0, ''])
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('goes on with another node, and not with what a run would not have taken', async () => {
    const other = shops.sandbox.state.rpcUrl.replace('127.0.0.1', 'localhost')
    const market = ['--market', shops.sandbox.state.baseUrl]
    const again = await shops.create(['begun', ...market, '--rpc', other, '--yes', '--no-install'])
    expect(again).toMatchObject({ code: 0, err: '' })
    expect(shops.project('begun')).toMatchObject({ rpc: other, setup: { rpc: other } })
    const file = join(shops.directory('begun'), 'referrer.json')
    const { setup, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...rest, setup: { ...setup, framework: '../../etc' } }))
    expect((await shops.create(['begun', ...shops.flags])).err).toMatch(/^--framework must be hono, /)
  })
})

describe('a shop that is interrupted', () => {
  it('is continued by the next run, wherever it stopped: one identity, one product, nothing is sent twice', {
    timeout: PATIENCE_MS,
  }, async () => {
    const directory = shops.directory('cut')
    const points = new Set<string>()
    for (let isDone = false; !isDone; ) {
      const env = { PORT: '3200' }
      const { baseUrl: market, rpcUrl: rpc } = shops.sandbox.state
      const reporter = interruptingAnew(points)
      const options = { directory, given: { market, rpc }, isInstalled: false, mayAsk: false, env, reporter }
      isDone = await createShop(options).then(
        () => true,
        (error) => {
          expect([points, error]).toEqual([points, expect.any(Interrupted)])
          return false
        },
      )
      // The market takes a request once, and those of two runs in one second would be the same.
      await sleep(1_000 - (Date.now() % 1_000))
    }
    // Each of them was the last thing that some run told.
    expect([...points]).toEqual(
      expect.arrayContaining([
        'owner',
        'server key',
        'asking the faucet',
        'waiting for the registration of the identity, transaction …',
        'identity',
        'waiting for setActive, transaction …',
        'active',
        'waiting for grantRole, transaction …',
        'settlement key',
        'registering at the market',
        'registered',
        'waiting for listProduct, transaction …',
        'product',
        'project',
      ]),
    )
    const owner = addressIn(join(directory, OWNER_KEY)) as Address
    expect(await shops.identitiesOf(owner)).toBe(1n)
    // register, setActive, grantRole, listProduct
    expect(await shops.transactionsOf(owner)).toBe(4)
    const { merchantId, products } = shops.project('cut')
    const merchant = await (await fetch(`${shops.sandbox.state.baseUrl}/v1/merchant/${merchantId}`)).json()
    expect(merchant.product_ids).toEqual(Object.values(products).map(({ id }) => id))
    expect(merchant.product_ids).toHaveLength(1)
  })
})

describe('what cannot become a shop', () => {
  const attempt = async (args: string[], env?: Record<string, string>) => {
    const { code, err } = await shops.create(args, env)
    return { code, err }
  }

  it('is refused in one line, and leaves nothing behind', { timeout: PATIENCE_MS }, async () => {
    const refused = async (args: string[], message: string | RegExp) => {
      const err = typeof message === 'string' ? message : expect.stringMatching(message)
      expect(await attempt(['never', ...shops.flags, '--no-install', ...args])).toEqual({ code: 1, err })
      expect(existsSync(shops.directory('never'))).toBe(false)
    }
    for (const price of ['five', '0', '-1', '0.0000001', '1e3', '']) {
      await refused([`--price=${price}`], /^the price must be USDC such as 0\.05, /)
    }
    await refused(
      ['--price', '0.000001'],
      /^the price 0\.000001 is below the least amount 0\.01 that this market settles: raise it$/,
    )
    for (const commission of ['100.01', '101', '-1', 'ten', '1.234']) {
      await refused(
        [`--commission=${commission}`],
        /^the commission must be a percentage from 0 to 100 such as 10 or 7\.5, not /,
      )
    }
    for (const name of ['two\nlines', 'bell\u0007', '\u202egnol', ' ', 'x'.repeat(201)]) {
      await refused(['--name', name], 'the name must be 1 to 200 characters without control characters')
    }
    await refused(['--name', '!!!'], 'the name must have a letter or a digit, not "!!!"')
    await refused(['--framework', 'rails'], '--framework must be hono, express, fastify, next, not "rails"')
    await refused(
      ['--network', 'mars'],
      '--network must be sandbox, sandbox-2, base-sepolia, base or the id of another chain, not "mars"',
    )
    await refused(['--market', 'ftp://market'], /^--market must be an http or https URL/)
    await refused(['--market', 'http://127.0.0.1:9'], /^no market answers at http:\/\/127\.0\.0\.1:9\//)
    await refused(
      ['--rpc', 'http://127.0.0.1:9'],
      'no node answers at http://127.0.0.1:9: start the sandbox with npm start, or name another node with --rpc and its market with --market',
    )
    await refused(['--network', 'base'], /set REFERRER_PASSWORD/)
  })

  it('is told when the node serves another chain, or the password is too short', async () => {
    const { rpcUrl } = shops.sandbox.state
    const env = { REFERRER_PASSWORD: 'long enough' }
    expect(await attempt(['never', ...shops.flags, '--network', 'base'], env)).toEqual({
      code: 1,
      err: `the node at ${rpcUrl} serves chain 31337, and base is chain 8453: name a node of it with --rpc`,
    })
    expect(await attempt(['never', '--network', 'base', '--yes'], env)).toEqual({
      code: 1,
      err: 'say --market',
    })
    expect(
      (await attempt(['never', ...shops.flags, '--network', 'base'], { REFERRER_PASSWORD: 'short' })).err,
    ).toContain('at least 8 characters')
    expect(existsSync(shops.directory('never'))).toBe(false)
  })

  it('is a folder with other things in it, or a file', async () => {
    mkdirSync(shops.directory('full'))
    writeFileSync(join(shops.directory('full'), 'thesis.txt'), '')
    writeFileSync(shops.directory('file'), '')
    expect((await attempt(['full', ...shops.flags])).err).toMatch(
      /is not empty: name another folder, or empty it$/,
    )
    expect((await attempt(['file', ...shops.flags])).err).toMatch(/is a file: name another folder$/)
    expect(readdirSync(shops.directory('full'))).toEqual(['thesis.txt'])
    expect(await attempt(['a', 'b'])).toMatchObject({ code: 2 })
    expect(await attempt([])).toMatchObject({ code: 2 })
    expect(await attempt(['a', '--colour', 'red'])).toMatchObject({ code: 2 })
  })

  it('is a shop whose password or terms are told otherwise than before', {
    timeout: PATIENCE_MS,
  }, async () => {
    expect(await attempt(['shop-with-hono', ...shops.flags], { REFERRER_PASSWORD: 'guess' })).toEqual({
      code: 1,
      err: expect.stringMatching(
        /^the password does not open .*owner-key\.json: set REFERRER_PASSWORD to its password$/,
      ),
    })
    expect((await attempt(['shop-with-hono', ...shops.flags, '--price', '0.30'])).err).toBe(
      'the shop in this folder was begun with --price 0.20, not 0.30: leave the flag out, and change it afterwards',
    )
  })
})

class Interrupted extends Error {}

/** Ends the run at the first thing that ended none before, as a crash there would; what was sent by then stays sent. */
function interruptingAnew(points: Set<string>): Reporter {
  const reach = (what: string) => {
    const point = what.replace(/0x[0-9a-f]+/gi, '…')
    if (points.has(point)) return
    points.add(point)
    throw new Interrupted(point)
  }
  return {
    step: ({ name }) => reach(name),
    async during(what, work) {
      work.catch(() => {})
      reach(what)
      return work
    },
  }
}

function snapshot(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    // What the shop writes while it sells is not the command's.
    .filter((path) => !/^(?:node_modules|payments\.log)/.test(path))
    .filter((path) => statSync(join(directory, path)).isFile())
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(directory, path), 'utf8')]))
}
