import { developmentAccount, privateKeyOf } from '@referrer/contracts/local'
import { ConfigError } from '@referrer/process'
import { AttestationKey } from '@referrer/protocol'
import { hexToBytes, type LocalAccount, numberToHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Facilitator, Overrides } from '../src/facilitator.ts'
import { send } from './asking.ts'
import { ATTESTATION_SEED, startTestFacilitator, type TestFacilitator } from './harness.ts'

let m: TestFacilitator
let buyer: LocalAccount
beforeAll(async () => {
  m = await startTestFacilitator({ buyers: 1 })
  buyer = await m.newBuyer()
})
afterAll(() => m?.close())

const MARKET = 'http://market.test'
const readiness = async ({ url }: Facilitator) => {
  const response = await fetch(`${url}/readyz`)
  const { checks } = (await response.json()) as { checks: Record<string, { detail: string }> }
  return [response.status, checks['chain 31337']?.detail]
}

describe('relayers', () => {
  test('that may not settle keep it from being ready, not from starting, until they may', async () => {
    const account = developmentAccount(15)
    const other = await m.startAnother({ RELAYER_PRIVATE_KEYS: privateKeyOf(account) })
    try {
      expect(await readiness(other)).toEqual([
        503,
        `0 of 1 relayers can settle; ${account.address} lacks SETTLER_ROLE: the admin of the split router ${m.till.router} has to grant it`,
      ])
      const body = await m.payload(await m.newBuyer())
      expect((await send(other.url, 'POST', '/settle', { body })).body).toMatchObject({
        success: false,
        errorReason: 'settle_failed',
        errorMessage: 'this facilitator may not settle; its operator has to grant its role',
        retryable: true,
      })
      await m.grant('SETTLER_ROLE', account.address)
      expect(await readiness(other)).toEqual([200, '1 of 1 relayers can settle'])
    } finally {
      await other.stop()
    }
  })

  test('without gas are told of, and one that has some is enough', async () => {
    const key = generatePrivateKey()
    const { address } = privateKeyToAccount(key)
    await m.grant('SETTLER_ROLE', address)
    const keys = [key, privateKeyOf(m.relayers[0])].join(',')
    const other = await m.startAnother({ RELAYER_PRIVATE_KEYS: keys })
    try {
      const [status, detail] = await readiness(other)
      expect(status).toBe(200)
      expect(detail).toMatch(
        `1 of 2 relayers can settle; ${address} has 0 for gas and a full batch costs up to 0.`,
      )
    } finally {
      await other.stop()
    }
  })
})

describe('a facilitator whose nodes answer wrongly is not ready, until they answer rightly:', () => {
  let lies: Record<string, unknown> = {}
  const lying: typeof fetch = async (input, init) => {
    const { id, method } = JSON.parse(String(init?.body))
    return method in lies ? Response.json({ jsonrpc: '2.0', id, result: lies[method] }) : fetch(input, init)
  }
  let other: Facilitator
  beforeAll(async () => {
    const [chain] = JSON.parse(m.env.CHAINS ?? '')
    const CHAINS = JSON.stringify([{ ...chain, maxHeadAgeSeconds: 3_600 }])
    other = await m.startAnother({ CHAINS }, { fetch: lying })
  })
  afterAll(() => other?.stop())

  test.each([
    [
      'a contract is not there',
      { eth_getCode: '0x' },
      /^chain 31337 has no contract at 0x\w+: correct contracts/,
    ],
    ['another chain', { eth_chainId: '0x1' }, /serves chain 1, not 31337: correct its URL/],
    [
      'a head that stands',
      { eth_getBlockByNumber: { timestamp: '0x1' } },
      /^the newest block of its nodes is \d+ s old/,
    ],
  ])('%s', async (_, told, detail) => {
    lies = told
    expect(await readiness(other)).toEqual([503, expect.stringMatching(detail)])
    lies = {}
    expect(await readiness(other)).toEqual([200, '1 of 1 relayers can settle'])
  })
})

describe('a start that cannot work says what to do:', () => {
  const chain = (change: (chain: { contracts: Record<string, string>; [key: string]: unknown }) => object) =>
    JSON.stringify([change(JSON.parse(m.env.CHAINS ?? '')[0])])

  async function problemsOf(env: Record<string, string>, overrides?: Overrides): Promise<readonly string[]> {
    const error = await m.startAnother(env, overrides).catch((error: unknown) => error)
    if (!(error instanceof ConfigError)) throw error
    return error.problems
  }

  test('contracts that do not belong together', async () => {
    const { USDC, MerchantRegistry } = m.market.addresses
    const CHAINS = chain(({ contracts, ...rest }) => ({
      ...rest,
      contracts: { ...contracts, MerchantRegistry: USDC },
    }))
    expect(await problemsOf({ CHAINS })).toEqual([
      `CHAINS: the split router of chain 31337 works with MerchantRegistry ${MerchantRegistry}, not with ${USDC}`,
    ])
  })

  test('contracts that are not there', async () => {
    const CHAINS = chain(({ contracts, ...rest }) => ({
      ...rest,
      contracts: { ...contracts, SplitRouter: '0x000000000000000000000000000000000000dEaD' },
    }))
    expect(await problemsOf({ CHAINS })).toEqual([
      expect.stringMatching(/^CHAINS: chain 31337 has no split router or no USDC .*; check its contracts$/s),
    ])
  })

  test('a node that is not there', async () => {
    const CHAINS = chain((rest) => ({ ...rest, rpcUrls: ['http://127.0.0.1:9/secret-key'] }))
    const [problem] = await problemsOf({ CHAINS })
    expect(problem).toMatch(/^CHAINS: the nodes of chain 31337 do not answer \(.*\); check its rpcUrls$/)
    expect(problem).not.toContain('secret-key')
  })

  test('a node that payments cannot be tried out on', async () => {
    const deaf = (ignore: (params: unknown[]) => unknown[]): Overrides => ({
      fetch: async (input, init) => {
        const call = JSON.parse(String(init?.body))
        const params = call.method === 'eth_call' ? ignore(call.params) : call.params
        return fetch(input, { ...init, body: JSON.stringify({ ...call, params }) })
      },
    })
    for (const ignore of [
      (params: unknown[]) => params.slice(0, 2),
      (params: unknown[]) => (params.length > 2 ? ['no call'] : params),
    ]) {
      expect(await problemsOf({}, deaf(ignore))).toEqual([
        expect.stringMatching(
          /^CHAINS: 127\.0\.0\.1:\d+ does not take state overrides .*; name another node/,
        ),
      ])
    }
  })

  test('a node of another chain', async () => {
    const CHAINS = chain((rest) => ({ ...rest, chainId: 8453 }))
    const ATTESTATION_PUBLIC_KEYS = JSON.stringify({ 8453: ['ab'.repeat(32)] })
    expect(await problemsOf({ CHAINS, ATTESTATION_PUBLIC_KEYS })).toEqual([
      expect.stringContaining('serves chain 31337, not 8453'),
    ])
  })

  test('a marketplace that does not tell its keys', async () => {
    const env = { ATTESTATION_PUBLIC_KEYS: '', MARKET_URL: MARKET }
    const answered = (response: () => Response): Overrides => ({
      fetch: async (input, init) => (String(input).startsWith(MARKET) ? response() : fetch(input, init)),
    })
    expect(
      await problemsOf(
        env,
        answered(() => new Response('', { status: 502 })),
      ),
    ).toEqual([
      'MARKET_URL: the manifest there does not tell whose ref links count (the marketplace answered with status 502); start the marketplace first, or set ATTESTATION_PUBLIC_KEYS',
    ])
    expect(
      await problemsOf(
        env,
        answered(() => Response.json({ chains: [{ chainId: 31_337 }] })),
      ),
    ).toEqual([
      'ATTESTATION_PUBLIC_KEYS: the marketplace signs no ref links on chain 31337; name the keys that count',
    ])
  })

  test('a port that is in use', async () => {
    const { port } = new URL(m.facilitator.url)
    await expect(m.startAnother({ PORT: port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

/** With a marketplace that has this manifest and tells nothing else. */
const startAt = (manifest: object) =>
  m.startAnother(
    { ATTESTATION_PUBLIC_KEYS: '', SETUP_URL: '', MARKET_URL: MARKET },
    {
      fetch: async (input, init) =>
        String(input) === `${MARKET}/.well-known/referrer-agent`
          ? Response.json(manifest)
          : String(input).startsWith(MARKET)
            ? new Response('', { status: 503 })
            : fetch(input, init),
    },
  )

const publicKeyOf = async (seed: number) =>
  (await AttestationKey.signingKey(hexToBytes(numberToHex(seed, { size: 32 })))).attestationPubKey

test('the keys of links are learnt from the marketplace, and with them where buying is explained', async () => {
  const attestationPubKey = await publicKeyOf(ATTESTATION_SEED)
  const other = await startAt({ chains: [{ chainId: m.chainId, attestationPubKey }] })
  try {
    const settle = async (body: unknown) => (await send(other.url, 'POST', '/settle', { body })).body
    expect(await settle(await m.payload(buyer))).toMatchObject({ success: true })
    expect(await settle(await m.payload(buyer, { value: 1n }))).toMatchObject({
      setup_url: `${MARKET}/.well-known/referrer-agent`,
    })
  } finally {
    await other.stop()
  }
})

test('links of the key before count although the facilitator started after the rotation', async () => {
  const [before, now, next] = [ATTESTATION_SEED, 0xa2, 0xa3]
  const chain = { chainId: m.chainId, attestationPubKey: '', attestationPubKeys: [''] }
  const rotate = async (current: number, previous: number) => {
    chain.attestationPubKey = await publicKeyOf(current)
    chain.attestationPubKeys = [chain.attestationPubKey, await publicKeyOf(previous)]
  }
  await rotate(now, before)
  const other = await startAt({ chains: [chain] })
  const verify = async (seed: number) => {
    const attributionToken = await m.mint({}, seed)
    const body = await m.payload(buyer, { attributionToken })
    return (await send(other.url, 'POST', '/verify', { body })).body
  }
  const refused = { isValid: false, invalidMessage: expect.stringContaining('no trusted key') }
  try {
    for (const seed of [before, now]) expect(await verify(seed)).toMatchObject({ isValid: true })
    await rotate(next, now)
    for (const seed of [next, now]) expect(await verify(seed)).toMatchObject({ isValid: true })
    expect(await verify(before)).toMatchObject(refused)
  } finally {
    await other.stop()
  }
})

describe('a facilitator that stops', () => {
  test('settles what has begun, takes nothing new, and still tells what became of payments', async () => {
    const body = await m.payload(buyer)
    const late = await m.payload(buyer)
    const { from, nonce } = body.paymentPayload.payload.authorization
    await m.chain.client.setAutomine(false)
    try {
      const sendingBefore = m.events.length
      const settling = m.settle(body)
      const isSent = () =>
        m.events
          .slice(sendingBefore)
          .some((event) => event.type === 'sender' && event.event.type === 'broadcast')
      await expect.poll(isSent, { timeout: 20_000 }).toBe(true)
      const stopping = m.facilitator.stop()
      const refused = await m.settle(late)
      expect([refused.status, refused.headers.get('retry-after'), refused.body]).toMatchObject([
        503,
        '5',
        { error: 'the facilitator is stopping; send the same request again' },
      ])
      expect((await m.call('GET', '/readyz')).body.status).toBe('stopping')
      expect((await m.call('GET', `/settlements/${from}/${nonce}`)).body.status).toBe('pending')
      await m.chain.client.mine({ blocks: 1 })
      expect((await settling).body.success).toBe(true)
      expect(await stopping).toEqual({ stuck: [] })
      await expect(m.call('GET', '/healthz')).rejects.toThrow()
    } finally {
      await m.chain.client.setAutomine(true)
    }
    await m.restart()
    expect((await m.settle(late)).body.success).toBe(true)
  })
})
