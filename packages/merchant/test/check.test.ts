import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { getRequestListener } from '@hono/node-server'
import { confirmed, listProduct, privateKeyOf } from '@referrer/contracts/local'
import { X402 } from '@referrer/protocol'
import { merchantRegistryAbi } from '@referrer/protocol/abi'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { Hono } from 'hono'
import { type Hex, keccak256, stringToBytes } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HELP, runCommand } from '../src/check/command.ts'
import { nodeHandler } from '../src/node.ts'
import { officialReferral } from '../src/x402.ts'
import { configOf, PRICE, shopOf, startWorld, supporting, type World } from './world.ts'

let world: World
let server: Server
let url: string
let listener: RequestListener

beforeAll(async () => {
  world = await startWorld()
  server = createServer((request, response) => listener(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/buy`
})
afterAll(async () => {
  server.close()
  await world?.close()
})
beforeEach(() => {
  listener = nodeHandler(shopOf(world))
  world.facilitator.says({})
  world.facilitator.supports(supporting())
})

const market = () => [
  '--chain-id',
  String(world.local.chain.id),
  '--rpc',
  world.rpcUrl,
  '--registry',
  world.market.addresses.AddressRegistry,
]
const seller = () => [
  '--merchant-id',
  String(world.product.merchantId),
  '--product-id',
  world.product.productId,
]

async function run(args: string[], env: Record<string, string> = {}) {
  const said: string[] = []
  const complained: string[] = []
  const code = await runCommand(args, env, {
    out: (text) => said.push(text),
    err: (text) => complained.push(text),
  })
  return { code, out: said.join('\n'), err: complained.join('\n') }
}

/** Which checks fail, with what they say. */
async function failures(args: string[] = [], env: Record<string, string> = {}) {
  const { code, out } = await run(['check', url, ...market(), '--json', ...args], env)
  const { pass, checks } = JSON.parse(out) as {
    pass: boolean
    checks: { name: string; ok: boolean; detail: string }[]
  }
  expect(code).toBe(pass ? 0 : 1)
  expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length)
  return Object.fromEntries(checks.filter(({ ok }) => !ok).map(({ name, detail }) => [name, detail]))
}

interface Offer extends Record<string, unknown> {
  accepts: [object]
  extensions: Record<string, unknown>
}
type Spoil = (offer: Offer, request: Request) => unknown

const change =
  (changes: object): Spoil =>
  (offer) =>
    Object.assign(offer, changes)
const changeOffer =
  (changes: object): Spoil =>
  ({ accepts }) =>
    Object.assign(accepts[0], changes)
const changeExtensions =
  (changes: object): Spoil =>
  ({ extensions }) =>
    Object.assign(extensions, changes)

/** The shop, with something about its offers put wrong. */
function spoiled(spoil: Spoil): RequestListener {
  const shop = shopOf(world)
  return nodeHandler({
    ...shop,
    async fetch(request) {
      const response = await shop.fetch(request)
      const body = (await response.json()) as Offer
      spoil(body, request)
      const headers = { 'PAYMENT-REQUIRED': X402.encodeHeader(body, 'standard') }
      return Response.json(body, { status: response.status, headers })
    },
  })
}

/** A shop on the official middleware. */
function official(): RequestListener {
  const referral = officialReferral(configOf(world))
  const resources = new x402ResourceServer(referral.facilitator).register(
    referral.network,
    new ExactEvmScheme(),
  )
  for (const extension of referral.extensions) resources.registerExtension(extension)
  const app = new Hono()
  app.use(paymentMiddleware({ '/buy': referral.route(PRICE) }, resources))
  return getRequestListener(app.fetch, { overrideGlobalObjects: false })
}

describe('check', () => {
  it('passes an endpoint of this library, and prints a line for each check', async () => {
    const { code, out } = await run([
      'check',
      url,
      ...market(),
      ...seller(),
      '--facilitator',
      world.facilitator.url,
    ])
    expect(code).toBe(0)
    expect(out.split('\n')[0]).toBe(url)
    for (const name of [
      'returns_402',
      'payto_is_splitrouter',
      'echoes_attribution',
      'facilitator_settles_here',
    ]) {
      expect(out).toMatch(new RegExp(`^✓ ${name} `, 'm'))
    }
    expect(out).not.toContain('✗')
    expect(out).toMatch(/(\d+) of \1 checks passed$/)
    expect(world.facilitator.settlements()).toHaveLength(0)
  })

  it('sends what the marketplace sends, and nothing that could pay', async () => {
    const asked: { method: string; headers: Record<string, unknown> }[] = []
    const shop = listener
    listener = (request, response) => {
      asked.push({ method: request.method ?? '', headers: request.headers })
      shop(request, response)
    }
    await failures()
    expect(asked.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET', 'GET'])
    expect(asked[0]?.headers['x-referrer-token']).toBe('referrer-readiness-probe')
    const payments = asked.map(({ headers }) => headers['payment-signature']).filter(Boolean)
    expect(payments.map((text) => Buffer.from(String(text), 'base64url').toString())).toEqual([
      'not a payment',
    ])
  })

  it.each<[string, string, Spoil]>([
    ['reads_as_an_offer', 'x402Version must be 2', change({ x402Version: 1 })],
    ['offer_scheme', 'set it to "exact"', changeOffer({ scheme: 'upto' })],
    ['offer_network', 'set it to "eip155:31337"', changeOffer({ network: 'eip155:1' })],
    ['offer_asset', 'set it to "0x', changeOffer({ asset: `0x${'00'.repeat(20)}` })],
    ['offer_amount', 'as decimal text', changeOffer({ amount: 250_000 })],
    ['offer_maxTimeoutSeconds', 'set it to 60', changeOffer({ maxTimeoutSeconds: 300 })],
    ['offer_extra', 'set name to "USD Coin"', changeOffer({ extra: { name: 'USDC', version: '2' } })],
    ['echoes_token_exactly', 'echo the header unchanged', changeExtensions({ attributionToken: '' })],
    [
      'echoes_attribution',
      'add extensions.attributionToken',
      changeExtensions({ attributionToken: undefined }),
    ],
    ['echoes_buyer_agent', 'as a string', changeExtensions({ buyerAgentId: 7 })],
    [
      'no_buyer_agent_unless_sent',
      'leave extensions.buyerAgentId out',
      changeExtensions({ buyerAgentId: null }),
    ],
    ['names_setup_url', 'is missing', changeExtensions({ setup_url: undefined })],
    ['names_resource', 'add resource', change({ resource: undefined })],
    [
      'get_and_post_agree',
      'answer both alike',
      (offer, request) => changeOffer({ amount: request.method === 'POST' ? '1' : '2' })(offer, request),
    ],
  ])('says what to fix for %s', async (name, advice, spoil) => {
    listener = spoiled(spoil)
    expect((await failures())[name]).toContain(advice)
  })

  it('says which router to pay', async () => {
    listener = spoiled(changeOffer({ payTo: world.market.accounts.merchant.address }))
    const found = await failures()
    expect(Object.keys(found).sort()).toEqual(['offer_payTo', 'payto_is_splitrouter'])
    expect(found.payto_is_splitrouter).toContain(world.market.addresses.SplitRouter)
  })

  it('says what to fix for an endpoint that gives everything away, or nothing', async () => {
    listener = (_request, response) => void response.end('{}')
    const generous = await failures()
    expect(generous.returns_402).toContain('status 200')
    expect(generous.post_returns_402).toContain('status 200')
    expect(generous.refuses_what_is_no_payment).toContain('serve only after /settle')
    listener = (_request, response) => void response.writeHead(404).end('<html>')
    expect((await failures()).returns_402).toContain('status 404')
  })

  it('says what is wrong with the header for official clients', async () => {
    for (const [encode, advice] of [
      [undefined, 'add header PAYMENT-REQUIRED'],
      [() => '{}', 'no base64 of JSON'],
      [() => X402.encodeHeader({ x402Version: 2 }, 'standard'), 'differ'],
      [(body: object) => X402.encodeHeader({ ...body, x: '?>~' }, 'url'), 'padded standard base64 only'],
    ] as const) {
      const shop = shopOf(world)
      listener = nodeHandler({
        ...shop,
        async fetch(request) {
          const response = await shop.fetch(request)
          const body = await response.json()
          return Response.json(body, {
            status: response.status,
            ...(encode && { headers: { 'PAYMENT-REQUIRED': encode(body) } }),
          })
        },
      })
      expect((await failures()).payment_required_header).toContain(advice)
    }
  })

  it('says so when nothing answers', async () => {
    const { code, out } = await run(['check', 'http://127.0.0.1:3/buy', ...market(), '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ pass: false, checks: [{ name: 'reachable', ok: false }] })
    expect(out).toContain('ECONNREFUSED')
  })

  it('says so when the chain does not answer, or is another', async () => {
    for (const wrong of [
      ['--rpc', 'http://127.0.0.1:3'],
      ['--chain-id', '1'],
      ['--registry', world.market.accounts.buyer.address],
    ]) {
      const args = market()
      args[args.indexOf(wrong[0] ?? '') + 1] = wrong[1] ?? ''
      const { code, out } = await run(['check', url, ...args])
      expect(code).toBe(1)
      expect(out).toMatch(/^✗ market_is_readable .*check --rpc, --chain-id and --registry$/m)
      expect(out).toMatch(/^✓ returns_402/m)
    }
  })
})

describe('check of a merchant', () => {
  const registry = () => ({
    account: world.market.accounts.merchant,
    address: world.market.addresses.MerchantRegistry,
    abi: merchantRegistryAbi,
  })
  const write = async (hash: Promise<Hex>) => void (await confirmed(world.market, await hash))

  it('says that it is not active', async () => {
    const { merchantId } = world.product
    const setActive = (active: boolean) =>
      write(
        world.local.client.writeContract({
          ...registry(),
          functionName: 'setActive',
          args: [merchantId, active],
        }),
      )
    await setActive(false)
    try {
      expect((await failures(seller())).merchant_is_active).toContain(`setActive(${merchantId}, true)`)
    } finally {
      await setActive(true)
    }
    expect(Object.keys(await failures(['--merchant-id', '999'], {}))).toEqual(['merchant_is_active'])
  })

  it('says that the product is not listed, closed, or dearer on-chain', async () => {
    const { merchantId } = world.product
    const productId: Hex = `0x${'d4'.repeat(32)}`
    const check = () => failures(['--merchant-id', String(merchantId), '--product-id', productId])
    expect((await check()).product_is_active).toContain('not listed: call listProduct')
    await listProduct(
      world.market,
      world.market.accounts.merchant,
      { merchantId, productId },
      { minPrice: 300_000n },
    )
    expect(await check()).toEqual({
      price_reaches_minimum: expect.stringContaining('0.25 is below the least price 0.3'),
    })
    await write(
      world.local.client.writeContract({
        ...registry(),
        functionName: 'setProductActive',
        args: [merchantId, productId, false],
      }),
    )
    expect((await check()).product_is_active).toContain('closed: call setProductActive')
  })

  it('says whether the hot key may settle for it', async () => {
    const { merchant, stranger } = world.market.accounts
    const keyed = (account: typeof stranger) =>
      failures(seller(), { MERCHANT_SIGNING_KEY: privateKeyOf(account) })
    expect(await keyed(merchant)).toEqual({})
    expect((await keyed(stranger)).signing_key_may_settle).toContain(
      `grantRole(${world.product.merchantId}, 0x`,
    )
    const role = keccak256(stringToBytes('SETTLEMENT_SIGNER_ROLE'))
    await write(
      world.local.client.writeContract({
        ...registry(),
        functionName: 'grantRole',
        args: [world.product.merchantId, role, stranger.address],
      }),
    )
    expect(await keyed(stranger)).toEqual({})
  })

  it('passes an endpoint on the official middleware, whose body is empty and whose offer is in the header', async () => {
    listener = official()
    expect(await (await fetch(url)).json()).toEqual({})
    expect(await failures([...seller(), '--facilitator', world.facilitator.url])).toEqual({})
  })

  it('says what is wrong with an offer that only the header makes', async () => {
    const shop = shopOf(world)
    listener = nodeHandler({
      ...shop,
      async fetch(request) {
        const { status, headers } = await shop.fetch(request)
        const offer = X402.decodeHeader(headers.get('PAYMENT-REQUIRED')) as Offer
        Object.assign(offer.accepts[0], { payTo: world.market.accounts.merchant.address })
        return Response.json(
          {},
          { status, headers: { 'PAYMENT-REQUIRED': X402.encodeHeader(offer, 'standard') } },
        )
      },
    })
    expect(Object.keys(await failures())).toEqual(['payto_is_splitrouter', 'offer_payTo'])
  })

  it('says when the price is below the least amount that the facilitator settles', async () => {
    const check = async (extra: object) => {
      world.facilitator.supports(supporting(extra))
      return failures(['--facilitator', world.facilitator.url])
    }
    expect(await check({ leastAmount: String(PRICE) })).toEqual({})
    expect(await check({ leastAmount: String(PRICE + 1n) })).toEqual({
      price_reaches_least_amount:
        'the price 0.25 is below the least amount 0.250001 that the facilitator settles: raise it',
    })
  })

  it('says whether the facilitator settles on its chain', async () => {
    const check = (facilitator = world.facilitator.url) => failures(['--facilitator', facilitator])
    world.facilitator.supports({ kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:1' }] })
    expect((await check()).facilitator_settles_here).toContain(
      'does not settle "exact" payments on eip155:31337',
    )
    world.facilitator.supports({ status: 404, text: '' })
    expect((await check()).facilitator_settles_here).toContain('answered 404')
    expect((await check('http://127.0.0.1:3')).facilitator_settles_here).toContain('ECONNREFUSED')
  })
})

describe('the command', () => {
  it('runs as a program', async () => {
    const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
    const exec = promisify(execFile)
    const { stdout } = await exec(process.execPath, [cli, 'check', url, ...market()])
    expect(stdout).toContain('✓ returns_402')
    const failed = exec(process.execPath, [cli, 'check', 'http://127.0.0.1:3', ...market()])
    await expect(failed).rejects.toMatchObject({ code: 1 })
  })

  it('prints how it is used', async () => {
    expect(await run(['--help'])).toEqual({ code: 0, out: HELP, err: '' })
  })

  it('says what is wrong with it, and exits with 2', async () => {
    const good = [
      'check',
      'http://shop.test',
      '--chain-id',
      '1',
      '--rpc',
      'http://node.test',
      '--registry',
      `0x${'00'.repeat(20)}`,
    ]
    const without = (name: string) => good.toSpliced(good.indexOf(name), 2)
    for (const [args, said] of [
      [[], 'say: check <url>'],
      [['check'], 'say: check <url>'],
      [['check', 'shop', ...good.slice(2)], 'the endpoint must be an http(s) URL'],
      [without('--chain-id'), '--chain-id is missing'],
      [without('--rpc'), '--rpc is missing'],
      [without('--registry'), '--registry is missing'],
      [[...good, '--chain-id', '0'], 'not 0'],
      [[...good, '--chain-id', 'x'], '--chain-id must be'],
      [[...good, '--registry', '0x1'], '--registry must be an address'],
      [[...good, '--merchant-id', '-1'], 'merchant-id'],
      [[...good, '--merchant-id', '1', '--product-id', '0x1'], 'product id must be 32-byte hex'],
      [[...good, '--product-id', `0x${'00'.repeat(32)}`], '--product-id needs --merchant-id'],
      [[...good, '--facilitator', 'x'], '--facilitator must be'],
      [[...good, '--nonsense'], '--nonsense'],
    ] as const) {
      const { code, out, err } = await run([...args])
      expect([code, out]).toEqual([2, ''])
      expect(err).toContain(said)
      expect(err).toContain('Try: referrer-merchant --help')
    }
    expect((await run(good, { MERCHANT_SIGNING_KEY: 'secret' })).err).not.toContain('secret')
  })
})
