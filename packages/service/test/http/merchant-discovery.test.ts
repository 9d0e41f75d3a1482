import { listProduct, openMerchant, type Product } from '@referrer/contracts/local'
import { getAddress, type Hex, type LocalAccount } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { type Service, startService } from '../../src/app/service.ts'
import { callerOf, must } from './caller.ts'
import { NO_WORK, productOf, startTestMarket, type TestMarket } from './market.ts'
import { act, openRecorded } from './merchants.ts'
import { type Catalogue, type Host, startCatalogue, startHost } from './x402-world.ts'

const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const OTHER = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'

let m: TestMarket
let owner: LocalAccount
let router: Hex
let catalogue: Catalogue
let host: Host
/** The first merchant, with the id 0. */
let zero: bigint
/** Has a payout wallet of its own, a landing page at the host and a product that is sold there. */
let shop: bigint
let product: Product

beforeAll(async () => {
  catalogue = await startCatalogue()
  host = await startHost()
  m = await startTestMarket({
    env: { ALLOW_PRIVATE_HOSTS: 'true', X402_CATALOGUE_URL: catalogue.url },
    overrides: NO_WORK,
  })
  owner = m.market.accounts.merchant
  router = getAddress(m.market.addresses.SplitRouter)
  zero = await openRecorded(m)
  shop = await openRecorded(m)
  product = { merchantId: shop, productId: productOf(1) }
  await act(m, owner, 'setPayoutWallet', shop, WALLET)
  await listProduct(m.market, owner, product)
  const post = (path: string, body: object) => must(m.call('POST', path, { as: owner, body }))
  await m.indexed()
  const about = { name: 'Weather', description: 'Of tomorrow', category: 'api' }
  const named = { merchant_id: Number(shop), product_id: product.productId }
  await post('/v1/merchant/product', { ...named, ...about, endpoint_url: `${host.origin}/weather?unit=C` })
  const page = { merchant_id: Number(shop), description: '', landing_page_url: `${host.origin}/home` }
  await post('/v1/merchant/profile', page)
})
afterAll(async () => {
  await m.close()
  catalogue.close()
  host.close()
})
beforeEach(() => {
  catalogue.listed.clear()
  Object.assign(catalogue, { asked: [], speaks: 'merchant' })
  Object.assign(host, { asked: [], serves: {} })
  // Longer than answers are cached.
  m.clock.aheadMs += 60_000
})

const pathOf = (id: bigint | number | string, query = '') => `/v1/merchant/${id}/discovery${query}`

function discover(id: bigint | number | string = shop, query = '') {
  // Keeps the route's rate limit from answering.
  m.clock.aheadMs += 200
  return m.call('GET', pathOf(id, query))
}

async function items(query = '') {
  const { status, body } = await discover(shop, query)
  expect(status).toBe(200)
  return body.items
}

const option = (payTo: string, amount = '1000') => ({
  scheme: 'exact',
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  amount,
  payTo,
  maxTimeoutSeconds: 60,
})
const entry = (path: string, payTo: string, more: object = {}) => ({
  resource: `https://api.test${path}`,
  type: 'http',
  x402Version: 2,
  accepts: [option(payTo)],
  ...more,
})
const list = (payTo: string, ...entries: Record<string, unknown>[]) =>
  catalogue.listed.set(payTo.toLowerCase(), entries)
const resources = (found: { resource: string }[]) => found.map(({ resource }) => resource)

describe('GET /v1/merchant/{id}/discovery', () => {
  it('answers anybody with these keys, and with no items when nothing is found [MDISC-01, MDISC-13, MDISC-14, MDISC-15, MDISC-16, MDISC-18]', async () => {
    const { status, body } = await discover()
    expect(status).toBe(200)
    expect(body).toEqual({
      merchant_id: Number(shop),
      chain_id: m.chainId,
      pay_tos: [WALLET, owner.address],
      items: [],
    })
  })

  it('refuses what is no id [MDISC-02, MDISC-03]', async () => {
    for (const id of ['-1', 'abc', '1.5', '9007199254740992', '%20']) {
      const { status, body } = await discover(id)
      expect([status, body], id).toEqual([400, { error: 'invalid merchant id' }])
    }
  })

  it('knows the merchant 0 [MDISC-04]', async () => {
    expect(zero).toBe(0n)
    const { status, body } = await discover(0)
    expect([status, body.merchant_id, body.pay_tos]).toEqual([200, 0, [owner.address]])
    expect((await m.call('GET', '/v1/merchant/0')).status).toBe(400)
  })

  it('does not know merchants that are not there, or not recorded [MDISC-05]', async () => {
    const unrecorded = await openMerchant(m.market, owner)
    await m.indexed()
    for (const id of [99_999_999, unrecorded]) {
      const { status, body } = await discover(id)
      expect([status, body]).toEqual([404, { error: 'merchant not found' }])
    }
  })

  it('refuses a chain that is not served [MDISC-06]', async () => {
    const { status, body } = await discover(shop, '?chain_id=999999999')
    expect([status, body]).toEqual([400, { error: 'chain_id not configured' }])
  })

  it('says so when the records cannot be read [MDISC-07]', async () => {
    const { status, body } = await m.withoutTable('market.merchants', () => discover())
    expect([status, body]).toEqual([500, { error: 'internal error' }])
  })
})

describe('pay_to', () => {
  const accounts = Array.from({ length: 11 }, (_, at) => `0x${String(at + 10).repeat(20)}` as Hex)
  const query = (addresses: readonly string[]) =>
    `?${addresses.map((address) => `pay_to=${address}`).join('&')}`

  it('is searched beside the wallet and the owner, in the order sent and before them [MDISC-08, MDISC-11, MDISC-12, MDISC-17]', async () => {
    const sent = [accounts[3], accounts[1], accounts[2]] as Hex[]
    const { body } = await discover(shop, query(sent))
    expect(body.pay_tos).toEqual([...sent.map((address) => getAddress(address)), WALLET, owner.address])
    const searched = catalogue.asked.map((asked) => new URL(asked, 'http://x').searchParams.get('payTo'))
    expect(new Set(searched)).toEqual(new Set(body.pay_tos))
  })

  it('may be given once [MDISC-08]', async () => {
    const { body } = await discover(shop, query([OTHER]))
    expect(body.pay_tos).toEqual([OTHER, WALLET, owner.address])
  })

  it('is searched once, however often and in whatever case it is sent [MDISC-17]', async () => {
    const sent = [owner.address.toLowerCase(), OTHER, OTHER.toLowerCase(), owner.address]
    const { body } = await discover(shop, query(sent))
    expect(body.pay_tos).toEqual([owner.address, OTHER, WALLET])
  })

  it('may be ten values and not eleven, even of the same address [MDISC-09, MDISC-10]', async () => {
    const ten = await discover(shop, query(accounts.slice(0, 10)))
    expect([ten.status, ten.body.pay_tos.length]).toEqual([200, 12])
    for (const eleven of [accounts, Array(11).fill(OTHER), Array(11).fill('x')]) {
      const { status, body } = await discover(shop, query(eleven))
      expect([status, body]).toEqual([400, { error: 'too many pay_to values' }])
    }
  })

  it('is refused when it is no address', async () => {
    for (const sent of ['', 'x', '0x12', `${OTHER}0`, 'So11111111111111111111111111111111111111112']) {
      const { status, body } = await discover(shop, `?pay_to=${OTHER}&pay_to=${sent}`)
      expect([status, body], sent).toEqual([400, { error: 'invalid pay_to' }])
    }
  })
})

describe('an item of the catalogue', () => {
  it('is all that the catalogue says, unchanged, with the address under which it was found [MDISC-28, MDISC-29, MDISC-32, MDISC-33, MDISC-34, MDISC-35, MDISC-36, MDISC-37, MDISC-38, MDISC-39]', async () => {
    const accepts = [
      option(WALLET, '2500'),
      { ...option(WALLET, '7'), network: 'eip155:1', extra: { a: [1] } },
    ]
    const quality = { l30DaysTotalCalls: 12, lastCalledAt: '2026-01-02T03:04:05Z', nested: [{ score: 0.5 }] }
    const told = {
      resource: 'https://API.test:443/v1/../v1/joke?a=1',
      type: 'http',
      x402Version: 2,
      accepts,
      name: ' Jokes ☂ ',
      description: 'About <anything>\n',
      category: 'Fun & games',
      lastUpdated: '2026-03-04T05:06:07.089Z',
      quality,
    }
    list(WALLET, told)
    expect(await items()).toEqual([
      {
        resource: told.resource,
        pay_to: WALLET,
        source: 'catalogue',
        status: 'discoverable',
        price: '2500',
        accepts,
        name: told.name,
        description: told.description,
        category: told.category,
        type: 'http',
        last_updated: told.lastUpdated,
        quality,
      },
    ])
  })

  it('says how to call it, as the extension of x402 tells [MDISC-40, MDISC-41, MDISC-42, MDISC-43]', async () => {
    const info = {
      input: { type: 'http', method: 'POST', bodyType: 'json', body: { topic: 'rain' } },
      output: { type: 'json', example: { joke: 'It is dry' } },
    }
    const schema = { type: 'object', properties: { input: { type: 'object' } } }
    list(WALLET, entry('/joke', WALLET, { extensions: { bazaar: { info, schema } } }))
    const [{ api }] = await items()
    expect(api).toEqual({
      input_method: 'POST',
      input_type: 'http',
      output_example: { joke: 'It is dry' },
      schema,
    })
  })

  it('says how to call it, as the first version of x402 told, with its price [MDISC-32, MDISC-40, MDISC-41, MDISC-42, MDISC-43]', async () => {
    const outputSchema = { input: { type: 'http', method: 'GET' }, output: { temperature: 17 } }
    const first = {
      scheme: 'exact',
      network: 'base',
      maxAmountRequired: '90',
      payTo: WALLET,
      description: 'Weather',
      outputSchema,
    }
    list(WALLET, { resource: 'https://api.test/w', type: 'http', x402Version: 1, accepts: [first] })
    expect(await items()).toMatchObject([
      {
        price: '90',
        description: 'Weather',
        api: {
          input_method: 'GET',
          input_type: 'http',
          output_example: { temperature: 17 },
          schema: outputSchema,
        },
      },
    ])
  })

  it('has no keys for what nobody told [MDISC-46]', async () => {
    list(WALLET, { resource: 'https://api.test/bare' })
    const bare = {
      resource: 'https://api.test/bare',
      pay_to: WALLET,
      source: 'catalogue',
      status: 'discoverable',
    }
    expect(await items()).toEqual([{ ...bare, accepts: [] }])
  })

  it('is read in either way that catalogues have of telling what pays an address [MDISC-28]', async () => {
    list(WALLET, entry('/a', WALLET))
    for (const speaks of ['merchant', 'resources', 'unfiltered'] as const) {
      catalogue.speaks = speaks
      expect(resources(await items()), speaks).toEqual(['https://api.test/a'])
      m.clock.aheadMs += 60_000
    }
  })

  it('is not one that pays somebody else, where the catalogue does not filter', async () => {
    catalogue.speaks = 'unfiltered'
    list(OTHER, entry('/theirs', OTHER), entry('/router', router), { resource: 'https://api.test/nobody' })
    list(WALLET, entry('/ours', WALLET.toLowerCase()))
    const many = Array.from({ length: 200 }, (_, at) => entry(`/many/${at}`, OTHER))
    list(OTHER.replace('f', 'e'), ...many)
    expect(resources(await items())).toEqual(['https://api.test/ours'])
    // One unfiltered page is enough to see that the filter is ignored.
    expect(catalogue.asked.filter((asked) => asked.includes('offset=100'))).toEqual([])
  })

  it('may be on a later page, as far as three pages go', async () => {
    list(WALLET, ...Array.from({ length: 350 }, (_, at) => entry(`/${at}`, WALLET)))
    const found = resources(await items())
    expect([found.length, found[0], found.at(-1)]).toEqual([
      300,
      'https://api.test/0',
      'https://api.test/299',
    ])
  })

  it('comes in the order of the addresses, then as the catalogue has it, each resource once', async () => {
    list(OTHER, entry('/c', OTHER), entry('/a', OTHER))
    list(WALLET, entry('/b', WALLET), entry('/a', WALLET), {
      ...entry('', WALLET),
      resource: 'HTTPS://api.TEST/c#x',
    })
    const found = await items(`?pay_to=${OTHER}`)
    expect(
      found.map(({ resource, pay_to }: { resource: string; pay_to: string }) => [resource, pay_to]),
    ).toEqual([
      ['https://api.test/c', OTHER],
      ['https://api.test/a', OTHER],
      ['https://api.test/b', WALLET],
    ])
  })

  it('is left out when it is no address on the web, or more than anybody reads [MDISC-29]', async () => {
    let deep: unknown = 1
    for (let depth = 0; depth < 1_000; depth += 1) deep = [deep]
    list(
      WALLET,
      ...['mcp://tool', 'api.test/x', '/x', 'ftp://api.test/', 'https://me:pw@api.test/', ''].map(
        (resource) => ({
          ...entry('', WALLET),
          resource,
        }),
      ),
      entry(`/${'x'.repeat(2_048)}`, WALLET),
      entry('/large', WALLET, { description: 'x'.repeat(70_000) }),
      entry('/deep', WALLET, { quality: deep }),
      { accepts: [option(WALLET)] },
      entry('/good', WALLET),
    )
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    host.serves['/.well-known/x402'] = `{"resources": [{"url": "/nested", "quality": ${nested}}]}`
    expect(resources(await items())).toEqual(['https://api.test/good'])
  })
})

describe('an item of a manifest', () => {
  it('has no address, and comes after those of the catalogue [CONV-19, MDISC-19, MDISC-28, MDISC-30]', async () => {
    list(WALLET, entry('/listed', WALLET))
    host.serves['/.well-known/x402'] = { version: 1, resources: [`${host.origin}/told`] }
    expect(await items()).toMatchObject([
      { resource: 'https://api.test/listed', source: 'catalogue', pay_to: WALLET },
      {
        resource: `${host.origin}/told`,
        source: 'manifest',
        pay_to: '',
        status: 'discoverable',
        accepts: [],
      },
    ])
  })

  it('is not shown when the catalogue has the same resource [MDISC-20]', async () => {
    list(WALLET, { ...entry('', WALLET), resource: `${host.origin}/both`, name: 'Listed' })
    host.serves['/.well-known/x402.json'] = {
      x402Version: 2,
      items: [
        {
          resource: `${host.origin}/both#top`,
          name: 'Told',
          accepts: [option(WALLET, '1')],
          description: 'More',
        },
      ],
    }
    expect(await items()).toMatchObject([
      { resource: `${host.origin}/both`, source: 'catalogue', name: 'Listed' },
    ])
  })

  it('may be a path there with its method, or all that the host knows of it [MDISC-29, MDISC-32, MDISC-40]', async () => {
    host.serves['/.well-known/x402'] = {
      version: 1,
      resources: ['POST /api/data', '/rich', 'ftp://x.test/', 'GET //evil.test/x', 7, null],
    }
    host.serves['/.well-known/x402.json'] = {
      x402Version: 2,
      items: [
        {
          resource: { url: `${host.origin}/rich`, description: 'All of it', serviceName: 'Data' },
          accepts: [option(WALLET, '12')],
          input: { type: 'http', method: 'GET' },
          output: { type: 'json', example: [1] },
        },
      ],
    }
    expect(await items()).toEqual([
      {
        resource: `${host.origin}/api/data`,
        pay_to: '',
        source: 'manifest',
        status: 'discoverable',
        accepts: [],
        api: { input_method: 'POST' },
      },
      {
        resource: `${host.origin}/rich`,
        pay_to: '',
        source: 'manifest',
        status: 'discoverable',
        price: '12',
        accepts: [option(WALLET, '12')],
        name: 'Data',
        description: 'All of it',
        api: { input_method: 'GET', input_type: 'http', output_example: [1] },
      },
    ])
  })

  it.each([
    ['endpoints', { endpoints: [{ path: '/e', method: 'POST', price: '0.001' }] }, '/e', '0.001'],
    ['services', { services: [{ endpoint: '/s' }] }, '/s', undefined],
    ['the offer itself', { accepts: [{ ...option(OTHER, '5'), resource: '/o' }] }, '/o', '5'],
  ])('may be told as %s', async (_what, manifest, path, price) => {
    host.serves['/.well-known/x402.json'] = manifest
    const [item, ...others] = await items()
    expect([item.resource, item.price, others]).toEqual([`${host.origin}${path}`, price, []])
  })

  it('is searched for at the hosts of the landing page and of the products, each once', async () => {
    await items()
    expect([...host.asked].sort()).toEqual(['/.well-known/x402', '/.well-known/x402.json'])
  })
})

describe('the status of an item', () => {
  it('is referral_mode when it pays the router, or is found under it [MDISC-26, MDISC-27]', async () => {
    list(router, entry('/under', router), { resource: 'https://api.test/bare' })
    list(
      WALLET,
      entry('/also', WALLET, { accepts: [option(WALLET), option(router.toLowerCase())] }),
      entry('/not', WALLET),
    )
    host.serves['/.well-known/x402'] = { resources: [{ url: '/told', accepts: [option(router)] }] }
    const found = await items(`?pay_to=${router}`)
    expect(
      found.map(({ resource, status }: { resource: string; status: string }) => [
        new URL(resource).pathname,
        status,
      ]),
    ).toEqual([
      ['/under', 'referral_mode'],
      ['/bare', 'referral_mode'],
      ['/also', 'referral_mode'],
      ['/not', 'discoverable'],
      ['/told', 'referral_mode'],
    ])
  })

  it('is published when the merchant sells a product there, which is named [MDISC-27, MDISC-31, MDISC-46]', async () => {
    const spelled = `${host.origin.replace('http', 'HTTP')}/x/../weather?unit=C#now`
    list(
      WALLET,
      { ...entry('', WALLET), resource: spelled },
      {
        ...entry('', WALLET),
        resource: `${host.origin}/weather?unit=F`,
      },
    )
    const [same, other] = await items()
    expect(same).toMatchObject({ resource: spelled, status: 'published', product_id: product.productId })
    expect(other.status).toBe('discoverable')
    expect(other).not.toHaveProperty('product_id')
  })

  it('is referral_mode, with the product, when both are so [MDISC-26, MDISC-31]', async () => {
    host.serves['/.well-known/x402'] = { resources: [{ url: '/weather?unit=C', accepts: [option(router)] }] }
    expect(await items()).toMatchObject([{ status: 'referral_mode', product_id: product.productId }])
  })

  it('is discoverable where the product is another merchant’s [MDISC-27, MDISC-46]', async () => {
    list(owner.address, { ...entry('', owner.address), resource: `${host.origin}/weather?unit=C` })
    const { body } = await discover(zero)
    expect(body.items).toMatchObject([{ status: 'discoverable' }])
    expect(body.items[0]).not.toHaveProperty('product_id')
  })
})

describe('sources', () => {
  it('that fail are passed over in silence [MDISC-21]', async () => {
    host.serves['/.well-known/x402'] = { resources: ['/told'] }
    catalogue.speaks = 'broken'
    expect(resources(await items())).toEqual([`${host.origin}/told`])
    m.clock.aheadMs += 60_000
    catalogue.speaks = 'merchant'
    list(WALLET, entry('/listed', WALLET))
    host.serves = { '/.well-known/x402': '<html>', '/.well-known/x402.json': 'null' }
    expect(resources(await items())).toEqual(['https://api.test/listed'])
  })

  it('that all fail leave nothing [MDISC-22]', async () => {
    catalogue.speaks = 'broken'
    const { status, body } = await discover()
    expect([status, Object.keys(body), body.items]).toEqual([
      200,
      ['merchant_id', 'chain_id', 'pay_tos', 'items'],
      [],
    ])
  })

  it('that are silent are not waited for [MDISC-21]', async () => {
    const chain = m.service.context.chains.get(m.chainId)
    if (!chain) throw new Error('there is a chain')
    host.serves['/.well-known/x402'] = { resources: ['/told'] }
    // The host is believed for a while, so that it need not be quicker than the limit.
    expect(resources(await items())).toEqual([`${host.origin}/told`])
    catalogue.speaks = 'silent'
    const { optionalReadMs } = chain
    chain.optionalReadMs = undefined
    try {
      expect(resources(await items(`?pay_to=${OTHER}`))).toEqual([`${host.origin}/told`])
    } finally {
      chain.optionalReadMs = optionalReadMs
    }
  })

  it('are asked once by many who ask at once', async () => {
    list(WALLET, entry('/a', WALLET))
    const answers = await Promise.all(Array.from({ length: 5 }, () => discover()))
    for (const { body } of answers) expect(resources(body.items)).toEqual(['https://api.test/a'])
    expect(catalogue.asked.filter((asked) => asked.includes(WALLET))).toHaveLength(1)
    expect(host.asked).toHaveLength(2)
  })

  it('are believed for a while, the catalogue for each address [MDISC-23, MDISC-25]', async () => {
    list(WALLET, entry('/old', WALLET))
    expect(resources(await items())).toEqual(['https://api.test/old'])
    list(WALLET, entry('/new', WALLET))
    list(OTHER, entry('/other', OTHER))
    m.clock.aheadMs += 10_000
    expect(resources(await items(`?pay_to=${OTHER}`))).toEqual([
      'https://api.test/other',
      'https://api.test/old',
    ])
    m.clock.aheadMs += 50_000
    expect(resources(await items())).toEqual(['https://api.test/new'])
  })

  it('are believed for a while, manifests for each host [MDISC-24, MDISC-25]', async () => {
    host.serves['/.well-known/x402'] = { resources: ['/old'] }
    expect(resources(await items())).toEqual([`${host.origin}/old`])
    host.serves['/.well-known/x402'] = { resources: ['/new'] }
    m.clock.aheadMs += 10_000
    expect(resources(await items())).toEqual([`${host.origin}/old`])
    m.clock.aheadMs += 50_000
    expect(resources(await items())).toEqual([`${host.origin}/new`])
  })
})

describe('a replica that reaches the public internet only, and has few requests to give', () => {
  let replica: Service
  let nowMs = Date.now()
  const BURST = 12

  beforeAll(async () => {
    replica = await startService(
      readConfig({
        DATABASE_URL: m.databaseUrl,
        PORT: '0',
        LOG_LEVEL: 'silent',
        EMBEDDER: 'off',
        RATE_LIMIT_PER_SECOND: '1',
        RATE_LIMIT_BURST: String(BURST),
        LIMITS: 'memory',
        X402_CATALOGUE_URL: catalogue.url,
        CHAINS: JSON.stringify([
          {
            chainId: m.chainId,
            rpcUrls: m.chains.map(({ chain }) => chain.rpcUrl),
            contracts: m.market.addresses,
            startBlock: 0,
          },
        ]),
      }),
      // A clock that stands still, so that no limit refills by itself.
      { ...NO_WORK, clock: () => nowMs, optionalReadMs: 20_000 },
    )
  })
  afterAll(() => replica.stop())
  beforeEach(() => {
    nowMs += 3_600_000
  })

  const ask = (path = pathOf(shop)) => callerOf(replica.url)('GET', path)

  it('lets five requests a second of a client pass [MDISC-44]', async () => {
    for (let sent = 0; sent < 5; sent += 1) expect((await ask()).status).toBe(200)
    const { status, body, headers } = await ask()
    expect([status, body, headers.get('retry-after')]).toEqual([429, { error: 'rate limited' }, '1'])
    expect((await ask('/v1/stats/mean-rank')).status).toBe(200)
    nowMs += 1_000
    expect((await ask()).status).toBe(200)
  })

  it('counts them among all requests of the client [MDISC-45]', async () => {
    for (let sent = 0; sent < BURST; sent += 1) expect((await ask('/v1/stats/mean-rank')).status).toBe(200)
    const { status, body } = await ask()
    expect([status, body]).toEqual([429, { error: 'rate limited' }])
  })

  it('asks the catalogue, which its operator chose, and no host that is not public', async () => {
    list(WALLET, entry('/listed', WALLET))
    host.serves['/.well-known/x402'] = { resources: ['/told'] }
    const { body } = await ask()
    expect(resources(body.items)).toEqual(['https://api.test/listed'])
    expect(host.asked).toEqual([])
  })
})
