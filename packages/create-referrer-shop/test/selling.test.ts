// From an empty folder to the first sale, with each framework.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PATIENCE_MS, type Shops, startShops } from './shops.ts'

let shops: Shops
beforeAll(async () => {
  shops = await startShops()
}, PATIENCE_MS)
afterAll(() => shops.end())

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

  it('stays as it is when all is run again', { timeout: PATIENCE_MS }, async () => {
    const before = snapshot(shops.directory(name))
    const { code, out } = await shops.create([name, ...shops.flags])
    expect(code).toBe(0)
    expect(steps(out).filter((line) => !line.startsWith('= '))).toEqual([])
    expect(snapshot(shops.directory(name))).toEqual(before)
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

describe('a shop that was made', () => {
  const command = (...args: string[]) => shops.command('shop-with-hono', args)

  it('changes its terms and says what they were, and keeps the change when the shop is made again', {
    timeout: PATIENCE_MS,
  }, async () => {
    const { out } = await command('list', '--commission', '20')
    expect(out).toContain(
      '0.2 USDC, commission 20 % (2000 bps); before: 0.2 USDC, commission 12.5 % (1250 bps)',
    )
    expect((await command('list', '--commission', '20')).out).toMatch(/^= product/)
    const again = await shops.create(['shop-with-hono', ...shops.flags])
    expect(again.out).toContain('commission 20 % (2000 bps)')
    expect((await command('list', '--type', 'one-off')).err).toContain('that cannot be changed')
  })

  it('closes a product or everything when told so twice, and opens again', {
    timeout: PATIENCE_MS,
  }, async () => {
    const [slug = ''] = Object.keys(shops.project('shop-with-hono').products)
    expect(await command('close', '--product', slug)).toMatchObject({
      code: 1,
      err: expect.stringContaining('say --yes'),
    })
    expect(await command('close')).toMatchObject({
      code: 2,
      err: expect.stringContaining('say --product <name> or --shop'),
    })
    expect((await command('close', '--product', slug, '--yes')).out).toMatch(/^\+ product +closed/)
    expect((await command('close', '--product', slug, '--yes')).out).toMatch(/^= product/)
    expect((await command('list')).out).toMatch(/^\+ product +opened .* again$/m)
    expect((await command('close', '--shop', '--yes')).out).toMatch(/^\+ active +closed/)
    expect((await command('close', '--shop', '--yes')).out).toMatch(/^= active/)
    expect((await command('open')).out).toMatch(/^\+ active +opened/m)
  })

  it('says that nothing answers before anybody reviews or describes it', {
    timeout: PATIENCE_MS,
  }, async () => {
    expect((await command('demo-sale')).err).toContain('start the shop with npm run dev')
    const { code, err } = await command('describe', '--endpoint', 'http://127.0.0.1:9/buy')
    expect([code, err]).toEqual([1, expect.stringContaining('start the endpoint, then run this again')])
    expect(JSON.stringify(shops.project('shop-with-hono'))).not.toContain('127.0.0.1:9/')
  })
})

function snapshot(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('node_modules'))
    .filter((path) => statSync(join(directory, path)).isFile())
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(directory, path), 'utf8')]))
}
