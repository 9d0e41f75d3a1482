// The extensions of x402: the official client with the functions of `@x402/extensions` on one side, our endpoint and facilitator on the other.
import { once } from 'node:events'
import { createServer, get, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mintUsdc, privateKeyOf } from '@referrer/contracts/local'
import { X402 } from '@referrer/protocol'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm'
import {
  bazaarResourceServerExtension,
  declareDiscoveryExtension,
  extractDiscoveryInfo,
  validateDiscoveryExtension,
} from '@x402/extensions/bazaar'
import {
  createEIP712OfferReceiptIssuer,
  createOfferReceiptExtension,
  decodeSignedOffers,
  type EIP712SignedReceipt,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  extractReceiptPayload,
  findAcceptsObjectFromSignedOffer,
  isEIP712SignedOffer,
  isEIP712SignedReceipt,
  isJWSSignedOffer,
  isJWSSignedReceipt,
  type SignedOffer,
  type SignedReceipt,
  verifyOfferSignatureEIP712,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureEIP712,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt'
import {
  appendPaymentIdentifierToExtensions,
  declarePaymentIdentifierExtension,
  generatePaymentId,
} from '@x402/extensions/payment-identifier'
import {
  createSIWxClientExtension,
  createSIWxPayload,
  encodeSIWxHeader,
  type SIWxExtension,
  wrapFetchWithSIWx,
} from '@x402/extensions/sign-in-with-x'
import {
  decodePaymentResponseHeader,
  wrapFetchWithPayment,
  wrapFetchWithPaymentFromConfig,
  x402Client,
} from '@x402/fetch'
import { exportJWK, generateKeyPair } from 'jose'
import { Challenge } from 'mppx'
import { type LocalAccount, testActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownedBy } from '../../facilitator/test/abuse/wallets.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../../facilitator/test/harness.ts'
import {
  createPaymentMemory,
  createReferralEndpoint,
  type MerchantEvent,
  type PaymentStore,
  type ReceiptKey,
  type ReceiptsConfig,
  type ReferralConfig,
  type ReferralEndpoint,
  receiptDidDocument,
  type Sale,
} from '../src/index.ts'
import { nodeHandler } from '../src/node.ts'

let m: TestFacilitator
const servers: Server[] = []

beforeAll(async () => {
  m = await startTestFacilitator({ keepsTime: true })
})
afterAll(async () => {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
  await m?.close()
})

interface Shop {
  url: string
  fetch?: ReferralEndpoint['fetch']
  served: number
  events: MerchantEvent[]
}

async function listen(server: Server): Promise<string> {
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function open(changes: Partial<ReferralConfig> = {}): Promise<Shop> {
  const shop: Shop = { url: '', served: 0, events: [] }
  const server = createServer()
  const origin = await listen(server)
  const endpoint = createReferralEndpoint({
    chainId: m.chainId,
    rpcUrl: m.node.url,
    addressRegistry: m.market.addresses.AddressRegistry,
    facilitatorUrl: m.facilitator.url,
    setupUrl: 'https://market.test/.well-known/referrer-agent',
    merchantId: m.merchant.merchantId,
    payments: createPaymentMemory(),
    price: PRICE,
    serve: () => ({ thing: ++shop.served }),
    onEvent: (event) => shop.events.push(event),
    // Buyers sign for the host that is configured, so it must be where they ask.
    ...(changes.signIn && { publicUrl: `${origin}/thing` }),
    ...changes,
    product: { id: m.merchant.productId, ...changes.product },
  })
  server.on('request', nodeHandler(endpoint))
  shop.fetch = endpoint.fetch
  shop.url = `${origin}/thing?topic=cats`
  return shop
}

const linked = () => ({ 'X-Referrer-Token': m.till.attributionToken })
const offerAt = async (url: string): Promise<PaymentRequired> => {
  const response = await fetch(url, { headers: linked() })
  expect(response.status).toBe(402)
  return X402.decodeHeader(response.headers.get('PAYMENT-REQUIRED')) as PaymentRequired
}

/** The official client, and what it paid with. */
function clientOf(account: LocalAccount) {
  const sent = { signature: '' }
  const pay = wrapFetchWithPaymentFromConfig(
    (input, init) => {
      const { headers } = new Request(input, init)
      sent.signature = headers.get('PAYMENT-SIGNATURE') ?? sent.signature
      return fetch(input, init)
    },
    {
      schemes: [{ network: X402.Network.from(m.chainId), client: new ExactEvmScheme(account) }],
      spendControls: false,
    },
  )
  return { pay, sent, payload: () => X402.decodeHeader(sent.signature) as never }
}

describe('bazaar', () => {
  const schema = { properties: { topic: { type: 'string' } }, required: ['topic'] }
  const product = {
    description: 'A joke about any topic',
    input: { example: { topic: 'cats' }, schema },
    output: { example: { joke: 'Two cats walk into a bar.' }, schema: { required: ['joke'] } },
  }

  it('is declared as the official package declares it, and passes its validation', async () => {
    const text = { input: { text: 'Guten Tag' }, inputSchema: { required: ['text'] } }
    for (const [mine, official, method] of [
      [product, { input: { topic: 'cats' }, inputSchema: schema, output: product.output }, 'GET'],
      [{ input: {} }, {}, 'GET'],
      [
        { output: { example: [1], schema: { type: 'array' } } },
        { output: { example: [1], schema: { type: 'array' } } },
        'GET',
      ],
      [
        { input: { method: 'POST', bodyType: 'text', example: text.input, schema: text.inputSchema } },
        { ...text, bodyType: 'text' },
        'POST',
      ],
    ] as const) {
      const { extensions } = await offerAt(
        (await open({ product: mine as NonNullable<ReferralConfig['product']> })).url,
      )
      // The official middleware adds the method of the request.
      const expected = await bazaarResourceServerExtension.enrichDeclaration?.(
        declareDiscoveryExtension(official as never).bazaar,
        { method, adapter: { getPath: () => '/thing' } },
      )
      expect(extensions?.bazaar).toEqual(expected)
      expect(validateDiscoveryExtension(extensions?.bazaar as never)).toEqual({ valid: true })
    }
  })

  it('reaches whoever settles, with the payment of the official client', async () => {
    const shop = await open({ product })
    const client = clientOf(await m.newBuyer())
    expect((await client.pay(shop.url, { headers: linked() })).status).toBe(200)
    const found = extractDiscoveryInfo(client.payload(), {} as never)
    expect(found).toMatchObject({
      resourceUrl: shop.url.replace(/\?.*/, ''),
      method: 'GET',
      description: product.description,
      discoveryInfo: {
        input: { queryParams: { topic: 'cats' } },
        output: { example: product.output.example },
      },
    })
  })
})

describe('offer-receipt', () => {
  const edKey = async (): Promise<ReceiptKey> =>
    (await exportJWK(
      (
        await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
      ).privateKey,
    )) as ReceiptKey
  const p256Key = async (): Promise<ReceiptKey> =>
    (await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)) as ReceiptKey
  const account = privateKeyToAccount(generatePrivateKey())
  const byDid = () => ['jws']

  /** By the official verifier; what it returns is who signed, where the format tells. */
  async function verified(offer: SignedOffer | undefined, receipt: SignedReceipt | undefined) {
    if (offer && receipt && isEIP712SignedOffer(offer) && isEIP712SignedReceipt(receipt)) {
      const signers = [await verifyOfferSignatureEIP712(offer), await verifyReceiptSignatureEIP712(receipt)]
      return signers.map(({ signer }) => signer)
    }
    if (offer && receipt && isJWSSignedOffer(offer) && isJWSSignedReceipt(receipt)) {
      await verifyOfferSignatureJWS(offer)
      await verifyReceiptSignatureJWS(receipt)
      return ['jws']
    }
    throw new Error('offer or receipt is missing')
  }

  const formats: [string, () => Promise<ReceiptsConfig>, () => string[]][] = [
    [
      'EIP-712',
      async () => ({ format: 'eip712', signer: account }),
      () => [account.address, account.address],
    ],
    [
      'the settlement key',
      async () => ({ format: 'eip712' }),
      () => Array(2).fill(m.merchant.account.address),
    ],
    ['JWS by Ed25519 and did:key', async () => ({ format: 'jws', signer: await edKey() }), byDid],
    ['JWS by P-256 and did:key', async () => ({ format: 'jws', signer: await p256Key() }), byDid],
    [
      'JWS by P-256 and did:web',
      async () => {
        const key = await p256Key()
        const host = await listen(
          createServer((request, response) => {
            const isAsked = request.url === '/.well-known/did.json'
            response.writeHead(isAsked ? 200 : 404).end(JSON.stringify(receiptDidDocument(kid, key)))
          }),
        )
        const kid = `did:web:${encodeURIComponent(new URL(host).host)}#key-1`
        return { format: 'jws', signer: key, kid }
      },
      byDid,
    ],
  ]

  it.each(formats)(
    'by %s, are what the official client extracts and verifies',
    async (_, receiptsOf, signers) => {
      const shop = await open({ receipts: await receiptsOf(), signingKey: privateKeyOf(m.merchant.account) })
      const offered = await offerAt(shop.url)
      const [offer] = extractOffersFromPaymentRequired(offered)
      const [decoded] = decodeSignedOffers(offer ? [offer] : [])
      expect(findAcceptsObjectFromSignedOffer(decoded as never, offered.accepts)).toEqual(offered.accepts[0])
      expect(decoded).toMatchObject({ resourceUrl: offered.resource?.url, acceptIndex: 0 })

      const buyer = await m.newBuyer()
      const response = await clientOf(buyer).pay(shop.url, { headers: linked() })
      expect(response.status).toBe(200)
      const receipt = extractReceiptFromResponse(response)
      expect(await verified(offer, receipt)).toEqual(signers())
      expect(verifyReceiptMatchesOffer(receipt as never, decoded as never, [buyer.address])).toBe(true)
      const { transaction } = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
      expect(extractReceiptPayload(receipt as never).transaction).toBe(transaction)
      expect(shop.events.map(({ type }) => type)).toEqual(['sold'])
    },
  )

  it('have the schemas of the official package, and its way to leave out the transaction', async () => {
    const official = createOfferReceiptExtension(createEIP712OfferReceiptIssuer('', async () => '0x'))
    const resource = { url: 'http://shop.test/' }
    const requirements = [{ network: 'eip155:1', amount: '1', asset: '0x', payTo: '0x', scheme: 'exact' }]
    const context = { paymentRequiredResponse: { resource }, requirements } as never
    const offers = (await official.enrichPaymentRequiredResponse?.({}, context)) as { schema: unknown }
    const receipts = (await official.enrichSettlementResponse?.({}, {
      result: { success: true, payer: '0x', network: 'eip155:1' },
      transportContext: { request: { adapter: { getUrl: () => resource.url } } },
    } as never)) as { schema: unknown; info: { receipt: EIP712SignedReceipt } }

    for (const format of ['eip712', 'jws'] as const) {
      const signer = format === 'jws' ? await edKey() : account
      const shop = await open({ receipts: { format, signer, includeTransaction: false } as ReceiptsConfig })
      const { extensions } = await offerAt(shop.url)
      expect(extensions?.['offer-receipt']).toMatchObject({ schema: offers.schema })
      const response = await clientOf(await m.newBuyer()).pay(shop.url, { headers: linked() })
      const settled = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
      expect(settled.extensions?.['offer-receipt']).toMatchObject({ schema: receipts.schema })
      const payload = extractReceiptPayload(extractReceiptFromResponse(response) as SignedReceipt)
      expect(payload.transaction).toBe(format === 'jws' ? undefined : '')
      if (format === 'eip712') {
        expect(Object.keys(payload)).toEqual(Object.keys(receipts.info.receipt.payload))
      }
    }
  })

  it('are left out where the signer fails or hangs: the sale is served, and the shop is told', async () => {
    for (const sign of [
      () => Promise.reject(new Error('KMS is down')),
      () => new Promise<string>(() => {}),
    ]) {
      const signer = { kid: 'did:web:shop.test#key-1', algorithm: 'ES256', sign }
      const shop = await open({ receipts: { format: 'jws', signer, timeoutMs: 20 } })
      const response = await clientOf(await m.newBuyer()).pay(shop.url, { headers: linked() })
      expect([response.status, await response.json()]).toMatchObject([200, { thing: 1 }])
      expect(extractReceiptFromResponse(response)).toBeUndefined()
      const types = shop.events.map((event) => (event.type === 'signing_failed' ? event.what : event.type))
      expect(types.slice(-2)).toEqual(['receipt', 'sold'])
      expect(types[0]).toBe('offer')
    }
  })

  it('are not issued for what was not delivered, nor to whoever repeats a payment', async () => {
    const answers = [Response.json({ error: 'sold out' }, { status: 404 }), { thing: 1 }]
    const shop = await open({ receipts: { format: 'eip712', signer: account }, serve: () => answers.shift() })
    const failed = await clientOf(await m.newBuyer()).pay(shop.url, { headers: linked() })
    expect([failed.status, extractReceiptFromResponse(failed)]).toEqual([404, undefined])
    const client = clientOf(await m.newBuyer())
    const served = await client.pay(shop.url, { headers: linked() })
    expect(extractReceiptFromResponse(served)).toBeDefined()
    const again = await fetch(shop.url, { headers: { 'PAYMENT-SIGNATURE': client.sent.signature } })
    expect([again.status, extractReceiptFromResponse(again)]).toEqual([409, undefined])
  })

  it('signs an offer once for all who ask for the same within half of its time', async () => {
    let signed = 0
    const clock = { now: Date.now() }
    const signer = { kid: 'did:web:shop.test#key-1', algorithm: 'ES256', sign: async () => `${++signed}` }
    const shop = await open({ receipts: { format: 'jws', signer, offerSeconds: 60 }, now: () => clock.now })
    const first = await offerAt(shop.url)
    clock.now += 30_000
    expect(extractOffersFromPaymentRequired(await offerAt(shop.url))).toEqual(
      extractOffersFromPaymentRequired(first),
    )
    clock.now += 1_000
    await offerAt(shop.url)
    expect(signed).toBe(2)
    const silent = await open({ receipts: { format: 'jws', signer, offerSeconds: 0 } })
    expect((await offerAt(silent.url)).extensions).not.toHaveProperty('offer-receipt')
    expect(signed).toBe(2)
  })
})

describe('sign-in-with-x', () => {
  const statement = 'Read again what you bought'
  /** Signs in where it can, and pays where it cannot. */
  function visitorOf(account: LocalAccount, ask: typeof fetch = fetch) {
    const network = X402.Network.from(m.chainId)
    const schemes = [{ network, client: new ExactEvmScheme(account) }]
    const client = x402Client.fromConfig({ schemes, spendControls: false })
    client.registerExtension(createSIWxClientExtension({ signers: [account] }))
    return wrapFetchWithPayment(ask, client)
  }
  /** The header that a wallet makes of the offer at a URL. */
  async function signedAt(
    url: string,
    account: LocalAccount,
    change: (info: Info) => Partial<Info> = () => ({}),
  ) {
    const { extensions = {} } = await offerAt(url)
    const { info, supportedChains } = extensions['sign-in-with-x'] as SIWxExtension
    const offered = { ...info, ...supportedChains[0] } as Info
    const complete = { ...offered, ...change(offered) }
    return encodeSIWxHeader(await createSIWxPayload(complete, account, complete.uri))
  }
  type Info = Parameters<typeof createSIWxPayload>[0]
  const enter = (url: string, header: string) =>
    fetch(url, { headers: { ...linked(), 'SIGN-IN-WITH-X': header } })

  it('serves a buyer again without payment, to the official client, and nobody else', async () => {
    const sales: Sale[] = []
    const serve = (_: Request, sale: Sale) => {
      sales.push(sale)
      return { thing: sales.length }
    }
    const shop = await open({ signIn: { statement }, serve })
    const buyer = await m.newBuyer()
    const visit = visitorOf(buyer)
    const first = await visit(shop.url, { headers: linked() })
    expect(first.headers.has('PAYMENT-RESPONSE')).toBe(true)
    const { transaction } = await first.json()
    const funds = await m.balanceOf(buyer.address)

    const again = await visit(shop.url, { headers: linked() })
    expect([again.status, await again.json()]).toEqual([200, { thing: 2, transaction }])
    expect(again.headers.has('PAYMENT-RESPONSE')).toBe(false)
    expect(await m.balanceOf(buyer.address)).toBe(funds)
    const [paid, free] = sales
    expect(free).toEqual({ ...paid, isReturning: true })

    // By the other way of the official package, too.
    expect((await wrapFetchWithSIWx(fetch, buyer)(shop.url)).status).toBe(200)
    const stranger = await m.newBuyer()
    const refused = await wrapFetchWithSIWx(fetch, stranger)(shop.url)
    expect([refused.status, (await refused.json()).error]).toEqual([
      402,
      expect.stringContaining('not_bought'),
    ])
    // Another query is another purchase, and so is what is sent by POST.
    const other = await wrapFetchWithSIWx(fetch, buyer)(shop.url.replace('cats', 'dogs'))
    expect((await other.json()).error).toContain('not_bought')
    const posted = await fetch(shop.url, { method: 'POST', headers: linked() })
    expect((await posted.json()).extensions).not.toHaveProperty('sign-in-with-x')
    expect(sales).toHaveLength(3)
    const types = shop.events.map(({ type }) => type)
    expect(types.filter((type) => type === 'sold' || type === 'returned')).toEqual([
      'sold',
      'returned',
      'returned',
    ])
  })

  it('takes a signature once, for this place, while it is fresh, and from its own key', async () => {
    const clock = { ahead: 0 }
    const shop = await open({ signIn: { statement }, now: () => Date.now() + clock.ahead })
    const buyer = await m.newBuyer()
    expect((await visitorOf(buyer)(shop.url, { headers: linked() })).status).toBe(200)
    const errorOf = async (header: string) => {
      const response = await enter(shop.url, header)
      expect(response.status).toBe(402)
      return ((await response.json()).error as string).split(':')[0]
    }
    const at = (ms: number) => new Date(Date.now() + ms).toISOString()

    const header = await signedAt(shop.url, buyer)
    const both = await Promise.all([enter(shop.url, header), enter(shop.url, header)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 402])
    expect(await errorOf(header)).toBe('invalid_siwx_nonce')

    const forged = async (change: (info: Info) => Partial<Info>) =>
      errorOf(await signedAt(shop.url, buyer, change))
    expect(await forged(() => ({ domain: 'evil.test', uri: 'https://evil.test/' }))).toBe(
      'invalid_siwx_domain_mismatch',
    )
    expect(await forged(({ uri }) => ({ uri: `${uri}&more=1` }))).toBe('invalid_siwx_uri_mismatch')
    expect(await forged(() => ({ chainId: 'eip155:1' }))).toBe('invalid_siwx_unsupported_chain')
    expect(await forged(() => ({ issuedAt: at(-6 * 60_000) }))).toBe('invalid_siwx_issued_at_too_old')
    expect(await forged(() => ({ issuedAt: at(60_000) }))).toBe('invalid_siwx_issued_at_in_future')
    expect(await forged(() => ({ expirationTime: at(-1_000) }))).toBe('invalid_siwx_expired')
    expect(await forged(() => ({ statement: 'Give me the money' }))).toBe('invalid_siwx_signature')
    const thief = privateKeyToAccount(generatePrivateKey())
    const stolen = { ...thief, address: buyer.address }
    expect(await errorOf(await signedAt(shop.url, stolen))).toBe('invalid_siwx_signature')
    for (const junk of ['', 'junk', btoa('null'), btoa('[]'), btoa('{"domain":1}')]) {
      expect(await errorOf(junk)).toBe('invalid_siwx_domain_mismatch')
    }
    const late = await signedAt(shop.url, buyer)
    clock.ahead = 5 * 60_000 + 1_000
    expect(await errorOf(late)).toBe('invalid_siwx_issued_at_too_old')
    expect(shop.served).toBe(2)
  })

  it('is not fooled by the host that a request names', async () => {
    const shop = await open({ signIn: {} })
    const buyer = await m.newBuyer()
    expect((await visitorOf(buyer)(shop.url, { headers: linked() })).status).toBe(200)
    // What the buyer signed at another site, sent to the shop in the name of that site.
    const header = await signedAt(shop.url, buyer, () => ({
      domain: 'evil.test',
      uri: 'http://evil.test/thing?topic=cats',
    }))
    const { port } = new URL(shop.url)
    const status = await new Promise((resolve, reject) => {
      const headers = { host: 'evil.test', 'sign-in-with-x': header }
      get({ port, path: '/thing?topic=cats', headers }, ({ statusCode }) => resolve(statusCode)).on(
        'error',
        reject,
      )
    })
    expect([status, shop.served]).toEqual([402, 1])
  })

  it('asks a contract wallet through the node, a few times a minute, and only one that has bought', async () => {
    const purchases = new Map<string, string>()
    const storage = {
      record: async (key: string, value: string) => void purchases.set(key, value),
      find: async (key: string) => purchases.get(key),
    }
    let calls = 0
    const shop = await open({
      signIn: { storage },
      fetch(input, init) {
        if (String(init?.body).includes('eth_call')) calls++
        return fetch(input, init)
      },
    })
    const owner = await m.newBuyer()
    expect((await visitorOf(owner)(shop.url, { headers: linked() })).status).toBe(200)
    // The buyer's wallet is made a contract that another key owns: the node has to be asked.
    const keeper = privateKeyToAccount(generatePrivateKey())
    const test = m.chain.client.extend(testActions({ mode: 'hardhat' }))
    await test.setCode({ address: owner.address, bytecode: ownedBy(keeper.address) })
    const wallet = { ...keeper, address: owner.address }
    expect((await enter(shop.url, await signedAt(shop.url, wallet))).status).toBe(200)

    const thief = { ...privateKeyToAccount(generatePrivateKey()), address: owner.address }
    const headers = await Promise.all(Array.from({ length: 6 }, () => signedAt(shop.url, thief)))
    const before = calls
    const statuses: number[] = []
    for (const header of headers) statuses.push((await enter(shop.url, header)).status)
    expect(statuses).toEqual([402, 402, 402, 402, 503, 503])
    expect(calls - before).toBe(4)
    // The owner has paid and must not be asked to pay again: the official client waits.
    const signatures: (string | null)[] = []
    const waiting = await visitorOf(wallet, (input, init) => {
      signatures.push(new Request(input, init).headers.get('PAYMENT-SIGNATURE'))
      return fetch(input, init)
    })(shop.url, { headers: linked() })
    expect([waiting.status, Number(waiting.headers.get('retry-after'))]).toEqual([503, expect.any(Number)])
    expect(Number(waiting.headers.get('retry-after'))).toBeGreaterThan(5)
    expect((await waiting.json()).error).toContain('do not pay again')
    expect(signatures).toEqual([null, null])
    expect(shop.events.at(-1)).toMatchObject({ reason: 'invalid_siwx_verifier_error' })

    const stranger = { ...thief, address: m.market.addresses.USDC }
    expect((await (await enter(shop.url, await signedAt(shop.url, stranger))).json()).error).toContain(
      'not_bought',
    )
    expect(calls - before).toBe(4)
  })

  it('serves nothing again that costs more than its buyer paid, unless the shop says so', async () => {
    const state = { price: PRICE }
    const price = (request: Request) => state.price * (request.headers.has('x-large') ? 2n : 1n)
    const serve = (request: Request) => ({ large: request.headers.has('x-large') })
    const [strict, generous] = await Promise.all([
      open({ signIn: {}, price, serve }),
      open({ signIn: { whenDearer: 'serve' }, price, serve }),
    ])
    const buyer = await m.newBuyer()
    const LARGE = { 'x-large': '1' }
    const enterBy = async ({ url }: Shop, more: Record<string, string> = {}) => {
      const headers = { ...linked(), ...more, 'SIGN-IN-WITH-X': await signedAt(url, buyer) }
      const response = await fetch(url, { headers })
      return [response.status, await response.json()]
    }
    const refused = [402, { error: expect.stringMatching(/^not_bought: this costs more/) }]
    const pay = async ({ url }: Shop, more: Record<string, string> = {}) =>
      expect((await clientOf(buyer).pay(url, { headers: { ...linked(), ...more } })).status).toBe(200)

    await pay(strict)
    expect(await enterBy(strict)).toMatchObject([200, { large: false }])
    expect(await enterBy(strict, LARGE)).toMatchObject(refused)
    await pay(strict, LARGE)
    expect(await enterBy(strict, LARGE)).toMatchObject([200, { large: true }])
    // A cheaper purchase afterwards takes nothing away.
    await pay(strict)
    expect(await enterBy(strict, LARGE)).toMatchObject([200, { large: true }])

    await pay(generous)
    state.price = PRICE + 1n
    expect(await enterBy(generous)).toMatchObject([200, { large: false }])
    expect(await enterBy(strict, LARGE)).toMatchObject(refused)
    expect(await enterBy(strict)).toMatchObject([200, { large: false }])
    state.price = PRICE - 1n
    expect(await enterBy(strict, LARGE)).toMatchObject([200, { large: true }])
  })

  it('tells a buyer to try again, not to pay again, where storage or serving fails', async () => {
    const state = { isDown: false }
    const kept = new Map<string, string>()
    const up = () => (state.isDown ? Promise.reject(new Error('no database')) : Promise.resolve())
    const storage = {
      record: (key: string, value: string) => up().then(() => void kept.set(key, value)),
      find: (key: string) => up().then(() => kept.get(key)),
    }
    const shop = await open({
      signIn: { storage },
      serve(_, sale) {
        if (sale.isReturning) throw new Error('out of paper')
        return {}
      },
    })
    const buyer = await m.newBuyer()
    state.isDown = true
    // A sale is served though nobody could write it down.
    expect((await clientOf(buyer).pay(shop.url, { headers: linked() })).status).toBe(200)
    expect(shop.events.map(({ type }) => type)).toEqual(['sold', 'storage_failed'])
    expect((await enter(shop.url, await signedAt(shop.url, buyer))).status).toBe(503)
    state.isDown = false
    expect((await visitorOf(buyer)(shop.url, { headers: linked() })).status).toBe(200)
    const failed = await enter(shop.url, await signedAt(shop.url, buyer))
    expect([failed.status, (await failed.json()).error]).toEqual([
      500,
      expect.stringContaining('do not pay again'),
    ])
  })

  it('refuses with a challenge of MPP, too, where the shop has turned that on', async () => {
    const mpp = { secretKey: 'a secret of thirty-two characters' }
    const shop = await open({ signIn: {}, mpp })
    const response = await enter(shop.url, await signedAt(shop.url, await m.newBuyer()))
    expect([response.status, (await response.json()).error]).toEqual([
      402,
      expect.stringContaining('not_bought'),
    ])
    expect(Challenge.fromResponse(response).intent).toBe('charge')
  })

  it('lets the shop name what was bought, for POST too', async () => {
    const shop = await open({
      signIn: { resource: (request) => new URL(request.url).searchParams.get('topic') ?? undefined },
      serve: async (request) => ({ text: await request.text() }),
    })
    const buyer = await m.newBuyer()
    const visit = visitorOf(buyer)
    const post = (more: string) =>
      visit(`${shop.url}${more}`, { method: 'POST', headers: linked(), body: 'Hi' })
    expect((await post('')).headers.has('PAYMENT-RESPONSE')).toBe(true)
    const again = await post('&page=2')
    expect(again.headers.has('PAYMENT-RESPONSE')).toBe(false)
    expect(await again.json()).toMatchObject({ text: 'Hi' })
  })
})

describe('payment-identifier', () => {
  /** Names its purchases, and shows what it sent last. */
  function namingClient(account: LocalAccount, id: string) {
    const network = X402.Network.from(m.chainId)
    const schemes = [{ network, client: new ExactEvmScheme(account) }]
    const client = x402Client.fromConfig({ schemes, spendControls: false })
    client.onBeforePaymentCreation(async ({ paymentRequired }) => {
      appendPaymentIdentifierToExtensions(paymentRequired.extensions ?? {}, id)
    })
    const sent = { signature: '' }
    const pay = wrapFetchWithPayment((input, init) => {
      const { headers } = input instanceof Request ? input : new Request(input, init)
      sent.signature = headers.get('PAYMENT-SIGNATURE') ?? sent.signature
      return fetch(input, init)
    }, client)
    return {
      sent,
      pay: (url: string, init: RequestInit = {}) => pay(url, { ...init, headers: linked() }),
      again: (url: string, init: RequestInit = {}) =>
        fetch(url, { ...init, headers: { 'PAYMENT-SIGNATURE': sent.signature } }),
    }
  }
  const all = async (response: Response) => ({
    status: response.status,
    settled: response.headers.get('PAYMENT-RESPONSE'),
    body: await response.text(),
  })
  const conflict = { status: 409, body: expect.stringContaining('payment_identifier_conflict') }
  const inUse = { status: 409, body: expect.stringContaining('payment_identifier_in_use') }
  /** Not a conflict, not a refusal: the buyer neither signs again nor chooses a new name. */
  async function expectLater(response: Response, words: string) {
    expect(response.headers.get('retry-after')).toMatch(/^[0-9]+$/)
    expect(response.headers.has('PAYMENT-REQUIRED')).toBe(false)
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { error: expect.stringContaining(words) },
    ])
  }
  /** Processes that share a store; `state.before` is called before a record is replaced. */
  function sharing() {
    const records = new Map<string, string>()
    const state: { before?: ((key: string) => Promise<void>) | undefined; aheadMs: number } = { aheadMs: 0 }
    const now = () => Date.now() + state.aheadMs
    const store: PaymentStore = {
      read: async (key) => records.get(key),
      async replace(key, before, next) {
        await state.before?.(key)
        if (records.get(key) !== before) return false
        if (next === undefined) records.delete(key)
        else records.set(key, next)
        return true
      },
    }
    const shop = (changes: Partial<ReferralConfig> = {}) =>
      open({
        paymentIds: {},
        payments: createPaymentMemory({ store }),
        now,
        // Each process is asked by a port of its own.
        publicUrl: 'https://shop.test/thing',
        ...changes,
      })
    return { records, state, shop }
  }
  /** A payment under a name, valid for an hour, as headers that can be sent many times. */
  async function named(buyer: LocalAccount, id: string) {
    const { paymentPayload } = await m.payload(buyer)
    const info = { required: false, id }
    const extensions = { ...paymentPayload.extensions, 'payment-identifier': { info } }
    return { 'PAYMENT-SIGNATURE': X402.encodeHeader({ ...paymentPayload, extensions }, 'standard') }
  }
  /** Loses answers of the facilitator while it is told to. */
  function losing() {
    const state = { isLost: false, isDown: false }
    return {
      state,
      async fetch(input: Parameters<typeof fetch>[0], init?: RequestInit) {
        const isPayment = /settle|verify/.test(String(input))
        if (state.isDown && isPayment) throw new TypeError('fetch failed')
        const answer = await fetch(input, init)
        if (state.isLost && isPayment) throw new TypeError('fetch failed')
        return answer
      },
    }
  }

  it('gives the same answer again, to the same payment and to a new one that the official client signs, for one price', async () => {
    const signer = privateKeyToAccount(generatePrivateKey())
    const shop = await open({ paymentIds: {}, receipts: { format: 'eip712', signer } })
    expect((await offerAt(shop.url)).extensions?.['payment-identifier']).toEqual(
      declarePaymentIdentifierExtension(),
    )
    const buyer = await m.newBuyer()
    const client = namingClient(buyer, generatePaymentId())
    const funds = await m.balanceOf(buyer.address)
    const first = await all(await client.pay(shop.url))
    expect(first).toMatchObject({ status: 200, settled: expect.stringMatching(/./) })
    expect(await all(await client.again(shop.url))).toEqual(first)
    const paidWith = client.sent.signature
    expect(await all(await client.pay(shop.url))).toEqual(first)
    expect(client.sent.signature).not.toBe(paidWith)
    expect([shop.served, funds - (await m.balanceOf(buyer.address))]).toEqual([1, PRICE])
  })

  it('answers 409 to the same name for something else, and takes no money for it', async () => {
    const shop = await open({
      paymentIds: {},
      price: (request) => (request.url.includes('two') ? PRICE * 2n : PRICE),
    })
    const buyer = await m.newBuyer()
    const client = namingClient(buyer, generatePaymentId())
    const post = (body: string) => ({ method: 'POST', body })
    expect((await client.pay(shop.url, post('one'))).status).toBe(200)
    const funds = await m.balanceOf(buyer.address)
    expect(await all(await client.again(`${shop.url}&more=1`, post('one')))).toMatchObject(conflict)
    expect(await all(await client.pay(`${shop.url}&pages=two`, post('one')))).toMatchObject(conflict)
    expect(await all(await client.pay(shop.url, post('two')))).toMatchObject(conflict)
    expect((await client.pay(shop.url, post('one'))).status).toBe(200)
    expect([shop.served, await m.balanceOf(buyer.address)]).toEqual([1, funds])
  })

  it("never gives one buyer's answer to another, nor to whoever writes that buyer's address", async () => {
    const shop = await open({ paymentIds: {} })
    const id = generatePaymentId()
    const buyer = await m.newBuyer()
    expect(await (await namingClient(buyer, id).pay(shop.url)).json()).toMatchObject({ thing: 1 })
    expect(await (await namingClient(await m.newBuyer(), id).pay(shop.url)).json()).toMatchObject({
      thing: 2,
    })
    const thief = { ...privateKeyToAccount(generatePrivateKey()), address: buyer.address }
    expect(await all(await namingClient(thief, id).pay(shop.url))).toMatchObject(inUse)
    expect(shop.served).toBe(2)
  })

  it('wants a name where the shop says so, and a good one always', async () => {
    const shop = await open({ paymentIds: { required: true } })
    const buyer = await m.newBuyer()
    const nameless = await clientOf(buyer).pay(shop.url, { headers: linked() })
    expect([nameless.status, await nameless.json()]).toMatchObject([
      400,
      { errorReason: 'invalid_payment_identifier' },
    ])
    const { paymentPayload } = await m.payload(buyer)
    for (const id of ['short', 'x'.repeat(129), 'with spaces in it!!', 7]) {
      const extensions = {
        ...paymentPayload.extensions,
        'payment-identifier': { info: { required: true, id } },
      }
      const signature = X402.encodeHeader({ ...paymentPayload, extensions }, 'standard')
      expect((await fetch(shop.url, { headers: { 'PAYMENT-SIGNATURE': signature } })).status).toBe(400)
    }
    // A body that breaks off is told, not thrown.
    const info = { required: true, id: generatePaymentId() }
    const extensions = { ...paymentPayload.extensions, 'payment-identifier': { info } }
    const headers = { 'PAYMENT-SIGNATURE': X402.encodeHeader({ ...paymentPayload, extensions }, 'standard') }
    const body = new ReadableStream({ pull: () => Promise.reject(new Error('torn')) })
    const torn = new Request(shop.url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
    expect((await shop.fetch?.(torn))?.status).toBe(400)
    expect(shop.served).toBe(0)
  })

  it('is free again after a refusal, and not while nobody knows what became of the payment', async () => {
    const { state, fetch } = losing()
    const shop = await open({ paymentIds: {}, fetch })
    const buyer = await m.newBuyer(0n)
    const id = generatePaymentId()
    expect((await namingClient(buyer, id).pay(shop.url)).status).toBe(503)
    const forger = { ...privateKeyToAccount(generatePrivateKey()), address: buyer.address }
    expect((await namingClient(forger, id).pay(shop.url)).status).toBe(402)
    await mintUsdc(m.market, buyer.address, 2n * PRICE)
    state.isLost = true
    const client = namingClient(buyer, id)
    expect((await client.pay(shop.url)).status).toBe(504)
    expect(await all(await namingClient(buyer, id).pay(shop.url))).toMatchObject(inUse)
    state.isLost = false
    expect(await all(await namingClient(buyer, id).pay(shop.url))).toMatchObject(inUse)
    expect((await client.again(shop.url)).status).toBe(200)
    expect((await namingClient(buyer, id).pay(shop.url)).status).toBe(200)
    expect([shop.served, await m.balanceOf(buyer.address)]).toEqual([1, PRICE])
  })

  it('leaves nothing behind where the payment is refused, or nothing happened to it', async () => {
    const { records, shop } = sharing()
    const endpoint = await shop()
    const poor = await m.newBuyer(0n)
    const forger = { ...privateKeyToAccount(generatePrivateKey()), address: poor.address }
    for (const [buyer, status] of [
      [poor, 503],
      [forger, 402],
    ] as const) {
      expect((await namingClient(buyer, generatePaymentId()).pay(endpoint.url)).status).toBe(status)
      expect([...records.keys()]).toEqual(['referrer:began'])
    }
  })

  it('tells a buyer who signs anew for the same thing to wait or to send the first payment again, never to pay again', async () => {
    const { state, fetch } = losing()
    const serving = { isBroken: false, wait: undefined as Promise<void> | undefined, begun: () => {} }
    const shop = await open({
      paymentIds: {},
      fetch,
      async serve() {
        serving.begun()
        await serving.wait
        if (serving.isBroken) throw new Error('out of paper')
        return { thing: 1 }
      },
    })
    const buyer = await m.newBuyer(2n * PRICE)
    const id = generatePaymentId()
    const anew = () => namingClient(buyer, id).pay(shop.url)

    // Under way.
    let end = () => {}
    serving.wait = new Promise((resolve) => {
      end = resolve
    })
    const begun = new Promise<void>((resolve) => {
      serving.begun = resolve
    })
    serving.isBroken = true
    const client = namingClient(buyer, id)
    const first = client.pay(shop.url)
    await begun
    await expectLater(await anew(), 'under way')
    end()
    expect((await first).status).toBe(500)
    // Owed.
    expect(await all(await anew())).toMatchObject(inUse)
    serving.isBroken = false
    const served = await all(await client.again(shop.url))
    expect(served.status).toBe(200)
    // Served: the same answer, as soon as the facilitator can be asked who signed.
    state.isDown = true
    await expectLater(await anew(), 'cannot be checked right now')
    state.isDown = false
    expect(await all(await anew())).toEqual(served)
    // The facilitator verifies nothing for a buyer who has no money left.
    expect((await clientOf(buyer).pay(`${shop.url}&other`, { headers: linked() })).status).toBe(200)
    expect(await m.balanceOf(buyer.address)).toBe(0n)
    const { transaction } = JSON.parse(served.body)
    expect(await all(await anew())).toMatchObject({ ...inUse, body: expect.stringContaining(transaction) })
  })

  it('holds between processes that share a store, and so does the answer', async () => {
    const { shop } = sharing()
    const [one, other] = await Promise.all([shop(), shop()])
    const buyer = await m.newBuyer()
    const client = namingClient(buyer, generatePaymentId())
    const served = await all(await client.pay(one.url))
    expect(served.status).toBe(200)
    const funds = await m.balanceOf(buyer.address)
    expect(await all(await client.again(other.url))).toEqual(served)
    expect(await all(await client.pay(other.url))).toEqual(served)
    expect(await all(await client.pay(`${other.url}&more=1`))).toMatchObject(conflict)
    expect([other.served, await m.balanceOf(buyer.address)]).toEqual([0, funds])
  })

  it('serves at another process what the first owes, and keeps that answer under the name', async () => {
    const { shop } = sharing()
    const one = await shop({ serve: () => Promise.reject(new Error('out of paper')) })
    const other = await shop()
    const buyer = await m.newBuyer()
    const client = namingClient(buyer, generatePaymentId())
    expect((await client.pay(one.url)).status).toBe(500)
    const funds = await m.balanceOf(buyer.address)
    expect(await all(await namingClient(buyer, generatePaymentId()).again(other.url))).toMatchObject({
      status: 402,
    })
    const served = await all(await client.again(other.url))
    expect(served.status).toBe(200)
    expect(await all(await client.again(other.url))).toEqual(served)
    expect(await all(await client.pay(other.url))).toEqual(served)
    expect([other.served, await m.balanceOf(buyer.address)]).toEqual([1, funds])
  })

  it('is held by one of two payments, however they overtake each other, and the other one costs nothing', async () => {
    const { records, state, shop } = sharing()
    const [one, other] = await Promise.all([shop(), shop()])
    // The first payment is stopped wherever it writes something, until the second is answered.
    for (let stop = 0; stop < 5; stop++) {
      records.clear()
      const buyer = await m.newBuyer()
      const funds = await m.balanceOf(buyer.address)
      const id = generatePaymentId()
      const [mine, second] = [await named(buyer, id), await named(buyer, id)]
      let asked = 0
      let answer: Promise<Response> | undefined
      state.before = async () => {
        if (answer || asked++ < stop) return
        answer = fetch(other.url, { headers: second })
        await answer
      }
      const first = await fetch(one.url, { headers: mine })
      state.before = undefined
      const paid = [first, await answer].filter((response) => response?.status === 200)
      expect([stop, paid.length]).toEqual([stop, 1])
      expect(funds - (await m.balanceOf(buyer.address))).toBe(PRICE)
    }
  })

  it('is free where a process died before it had claimed the payment', async () => {
    const { state, records, shop } = sharing()
    const [one, other] = await Promise.all([shop(), shop()])
    const client = namingClient(await m.newBuyer(), generatePaymentId())
    for (let failing = 0; failing < 3; failing++) {
      let asked = 0
      state.before = async () => {
        if (asked++ === failing) throw new Error('no database')
      }
      expect((await client.pay(one.url)).status).toBe(503)
      state.before = undefined
      records.clear()
    }
    expect((await client.again(other.url)).status).toBe(200)
  })

  it('does not keep long answers: their payment gets 409 with the transaction', async () => {
    const long = 'x'.repeat(65_537)
    for (const answer of [() => ({ long }), () => new Response(long)]) {
      const shop = await open({ paymentIds: {}, serve: answer })
      const client = namingClient(await m.newBuyer(), generatePaymentId())
      const served = await client.pay(shop.url)
      expect([served.status, (await served.text()).includes(long)]).toEqual([200, true])
      const again = await client.again(shop.url)
      expect([again.status, await again.json()]).toMatchObject([
        409,
        { transaction: expect.stringMatching(/^0x/) },
      ])
    }
  })
})
