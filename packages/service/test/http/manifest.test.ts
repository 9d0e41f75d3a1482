import { createPrivateKey, createPublicKey } from 'node:crypto'
import { freshDatabase } from '@referrer/database/testing'
import { AttestationKey, AttributionToken } from '@referrer/protocol'
import { addressRegistryAbi } from '@referrer/protocol/abi'
import { type Hex, hexToBytes, keccak256, stringToHex, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { startService } from '../../src/app/service.ts'
import { migrations } from '../../src/machinery/db/migrations.ts'
import { type Answer, callerOf } from './caller.ts'
import { ATTESTATION_SEEDS, BASE_URL, startTestMarket, type TestMarket } from './market.ts'

const JSON_PATH = '/.well-known/referrer-agent'
const TEXT_PATH = '/.well-known/referrer-agent.txt'
/** Of a ref link. */
const TERMS = {
  ...{ chainId: 1, splitRouter: zeroAddress, merchantEndpoint: 'https://shop.test/', merchantId: 1 },
  ...{ productId: `0x${'11'.repeat(32)}` as const, reviewId: 1, reviewerAgentId: 1 },
  ...{ cashbackOfCommissionBps: 0, commissionMultiplierBps: 10_000, issuedAt: 1_750_000_000 },
}
const CHAIN_IDS = [31_337, 31_338]
const SECTIONS = [
  'Attribution',
  'Native integration',
  'Chains',
  'MCP servers',
  'Skill',
  'Identity registration',
  'Docs',
  'Setup URL',
]

let m: TestMarket
let json: Answer
let text: string
/** The manifest of a service with one chain without identities, whose key was changed, and one chain without a key. */
let bare: { json: Answer['body']; text: string }

beforeAll(async () => {
  const [market, database] = await Promise.all([
    startTestMarket({ chainIds: CHAIN_IDS }),
    freshDatabase(migrations),
  ])
  m = market
  json = await m.call('GET', JSON_PATH)
  text = (await m.call('GET', TEXT_PATH)).text
  const service = await startService(
    readConfig({
      DATABASE_URL: database.url,
      PORT: '0',
      LOG_LEVEL: 'silent',
      PUBLIC_URL: BASE_URL,
      FACILITATOR_URL: 'https://facilitator.test/x402',
      FAUCET_URL: 'https://faucet.test',
      ATTESTATION_KEYS: JSON.stringify({ 1: [ATTESTATION_SEEDS[1], ATTESTATION_SEEDS[0]] }),
      CHAINS: JSON.stringify(
        m.chains.map(({ chain, market: { addresses } }, at) => ({
          chainId: [1, 2][at],
          rpcUrls: [chain.rpcUrl],
          contracts: at === 0 ? { ...addresses, IdentityRegistry: zeroAddress } : addresses,
          startBlock: 0,
          ...(at === 1 && { leastAmount: 250_000 }),
        })),
      ),
    }),
  )
  const call = callerOf(service.url)
  bare = { json: (await call('GET', JSON_PATH)).body, text: (await call('GET', TEXT_PATH)).text }
  await service.stop()
  await database.drop()
})
afterAll(() => m.close())

/** The public key of an Ed25519 seed, as Node computes it: RFC 8410 wraps a seed in these bytes. */
function publicKeyOf(seed: Hex | undefined): string {
  const der = Buffer.from(`302e020100300506032b657004220420${seed?.slice(2)}`, 'hex')
  const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
  return key.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
}

/** The lines of each section of the text, by title. */
function sectionsOf(manifest: string): Map<string, string[]> {
  const [, ...parts] = manifest.split(/^## /m)
  return new Map(
    parts.map((part) => {
      const [title = '', ...lines] = part.split('\n')
      return [title, lines.filter((line) => line !== '')]
    }),
  )
}

function leavesOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value]
}

const valuesOf = (line: string) => Object.fromEntries(line.split(' ').map((item) => item.split('=')))
const asText = (entry: object) =>
  Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, String(value)]))
const sentence = expect.stringMatching(/\S+ \S+/)

describe('GET /.well-known/referrer-agent', () => {
  it('is JSON for everybody, under no prefix [MANI-01, MANI-02, MANI-38]', async () => {
    expect(json.status).toBe(200)
    expect(json.headers.get('content-type')).toBe('application/json')
    for (const path of [JSON_PATH, TEXT_PATH])
      expect((await m.call('GET', `/v1${path}`)).status, path).toBe(404)
  })

  it('gives the same bytes each time, whatever chain is asked for [MANI-03, MANI-04]', async () => {
    for (const query of ['', '?chain_id=999999999', '?chain_id=31338', '?chain_id=x', '?other=1']) {
      const answer = await m.call('GET', `${JSON_PATH}${query}`)
      expect(answer.status, query).toBe(200)
      expect(answer.text, query).toBe(json.text)
    }
  })

  it('has these keys and no others [MANI-06, MANI-07, MANI-27, MANI-29, MANI-30]', () => {
    // Our own two are there where the operator has set them.
    const { facilitatorUrl, faucetUrl, ...stated } = json.body
    expect({ facilitatorUrl, faucetUrl }).toEqual({
      facilitatorUrl: m.service.context.config.facilitatorUrl,
      faucetUrl: m.service.context.config.faucetUrl,
    })
    expect(Object.keys(stated).toSorted()).toEqual([
      'attestationPubKey',
      'attribution',
      'chains',
      'description',
      'docs',
      'identityRegistration',
      'mcp',
      'nativeIntegration',
      'protocol',
      'setupUrl',
      'skill',
      'version',
    ])
    const { protocol, description, identityRegistration, setupUrl, skill } = json.body
    expect(protocol).toMatch(/\S/)
    expect(description).toEqual(sentence)
    expect(identityRegistration).toEqual(sentence)
    expect(setupUrl).toBe(`${BASE_URL}${JSON_PATH}`)
    expect(skill).toMatch(/\S/)
  })

  it('is of version "1", for tokens of version 4 [MANI-05, MANI-09, MANI-10, MANI-11]', () => {
    expect(json.body.version).toBe('1')
    expect(json.body.attribution).toEqual({ required: true, tokenVersion: 4, howTo: sentence })
  })

  it('tells merchants how to sell, step by step [MANI-12, MANI-13, MANI-14]', () => {
    const { nativeIntegration } = json.body
    expect(Object.keys(nativeIntegration).toSorted()).toEqual(['docs', 'recipe', 'summary'])
    expect(nativeIntegration.summary).toEqual(sentence)
    expect(nativeIntegration.docs).toMatch(/^https:\/\/market\.test\//)
    expect(nativeIntegration.recipe).toBeInstanceOf(Array)
    expect(nativeIntegration.recipe.length).toBeGreaterThan(1)
    for (const step of nativeIntegration.recipe) expect(step).toEqual(sentence)
  })

  it('has an entry for each chain, the default chain first, with the key of that chain [MANI-08, MANI-15, MANI-16, MANI-18, MANI-20]', () => {
    const keys = ATTESTATION_SEEDS.map(publicKeyOf)
    expect(new Set(keys).size).toBe(2)
    expect(json.body.chains).toEqual(
      m.chains.map(({ market: { addresses } }, at) => ({
        chainId: CHAIN_IDS[at],
        splitRouter: addresses.SplitRouter,
        reviewRegistry: addresses.ReviewRegistry,
        identityRegistry: addresses.IdentityRegistry,
        reputationRegistry: addresses.ReputationRegistry,
        attestationPubKey: keys[at],
        attestationPubKeys: [keys[at]],
        leastAmount: '10000',
      })),
    )
    expect(json.body.attestationPubKey).toBe(keys[0])
    expect(json.body.attestationPubKey).toMatch(/^[0-9a-f]{64}$/)
  })

  it('is all that it takes to verify links, of the key before a change too', async () => {
    const [before = '', now = ''] = ATTESTATION_SEEDS.map(publicKeyOf)
    const { attestationPubKey, attestationPubKeys } = bare.json.chains[0]
    expect(attestationPubKey).toBe(now)
    expect(attestationPubKeys).toEqual([now, before])
    expect(sectionsOf(bare.text).get('Chains')?.[0]).toContain(` attestationPubKeys=${now},${before}`)
    const key = await AttestationKey.signingKey(hexToBytes(ATTESTATION_SEEDS[0] as Hex))
    const older = await AttributionToken.mint(TERMS, key)
    const ring = await AttestationKey.keyRing(attestationPubKeys[0], attestationPubKeys[1])
    expect(await AttributionToken.verify(older, ring)).toMatchObject({ reviewId: 1 })
    const { kid } = AttributionToken.decodeUnverified(older)
    expect(attestationPubKeys.findIndex((key: string) => key.startsWith(kid))).toBe(1)
  })

  it('names the router that merchants read from the address registry for payTo [MANI-17]', async () => {
    for (const [at, { market }] of m.chains.entries()) {
      const payTo = await market.client.readContract({
        address: market.addresses.AddressRegistry,
        abi: addressRegistryAbi,
        functionName: 'getAddress',
        args: [keccak256(stringToHex('SPLIT_ROUTER'))],
      })
      expect(json.body.chains[at].splitRouter).toBe(payTo)
    }
  })

  it('leaves out an identity registry, and a key, that a chain does not have [MANI-19]', () => {
    const [withoutIdentities, withoutKey] = bare.json.chains
    expect(Object.keys(withoutIdentities)).toEqual([
      'chainId',
      'splitRouter',
      'reviewRegistry',
      'attestationPubKey',
      'attestationPubKeys',
      'leastAmount',
    ])
    expect(Object.keys(withoutKey)).toEqual([
      'chainId',
      'splitRouter',
      'reviewRegistry',
      'identityRegistry',
      'reputationRegistry',
      'leastAmount',
    ])
  })

  it('tells the least amount that is settled on a chain, as configured, in both forms', () => {
    expect(json.body.chains.map(({ leastAmount }: { leastAmount: string }) => leastAmount)).toEqual([
      '10000',
      '10000',
    ])
    expect(bare.json.chains[1].leastAmount).toBe('250000')
    expect(bare.text).toContain('leastAmount=250000')
  })

  it('names both tool servers: one over HTTP at an address, one over stdio without [MANI-21, MANI-22, MANI-23, MANI-24, MANI-25, MANI-26]', () => {
    const { servers } = json.body.mcp
    const common = { name: expect.stringMatching(/\S/), description: sentence, install: sentence }
    expect(servers).toEqual([
      { ...common, transport: 'http', url: `${BASE_URL}/mcp` },
      { ...common, transport: 'stdio' },
    ])
    expect(servers[0].name).not.toBe(servers[1].name)
  })

  it('maps names of documents to their addresses [MANI-28]', () => {
    const addresses = Object.values<string>(json.body.docs)
    expect(json.body.docs).not.toBeInstanceOf(Array)
    expect(addresses.length).toBeGreaterThan(0)
    for (const address of addresses) expect(new URL(address).protocol).toBe('https:')
  })
})

describe('GET /.well-known/referrer-agent.txt', () => {
  it('is text for everybody, the same each time [MANI-31, MANI-32]', async () => {
    const answer = await m.call('GET', `${TEXT_PATH}?chain_id=999999999`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.text).toBe(text)
  })

  it('says all that the JSON says [MANI-33]', () => {
    const said = leavesOf(json.body).map(String)
    expect(said.length).toBeGreaterThan(30)
    for (const value of said) expect(text).toContain(value)
    const { facilitatorUrl, faucetUrl } = bare.json
    expect([facilitatorUrl, faucetUrl]).toEqual(['https://facilitator.test/x402', 'https://faucet.test'])
    for (const value of leavesOf(bare.json).map(String)) expect(bare.text).toContain(value)
  })

  it('has its sections in this order, each with what belongs there [MANI-33, MANI-34]', () => {
    const sections = sectionsOf(text)
    expect([...sections.keys()]).toEqual(SECTIONS)
    const { attribution, nativeIntegration, chains, mcp, skill, identityRegistration, docs, setupUrl } =
      json.body
    const parts = [
      attribution,
      nativeIntegration,
      chains,
      mcp,
      skill,
      identityRegistration,
      docs,
      setupUrl,
    ].map((part) => leavesOf(part).map(String))
    for (const [at, title] of SECTIONS.entries())
      for (const value of parts[at] ?? []) expect(sections.get(title)?.join('\n'), title).toContain(value)
  })

  it('has one line for each chain, with its values by name [MANI-35, MANI-36]', () => {
    const lines = sectionsOf(text).get('Chains') ?? []
    expect(lines.map(valuesOf)).toEqual(json.body.chains.map(asText))
    for (const chainId of CHAIN_IDS)
      expect(text.split('\n').filter((line) => line.includes(String(chainId)))).toHaveLength(1)
  })

  it('leaves out of a line what the chain does not have [MANI-37]', () => {
    const [withoutIdentities = '', withoutKey = ''] = sectionsOf(bare.text).get('Chains') ?? []
    expect(withoutIdentities).not.toContain('identityRegistry')
    expect(withoutIdentities).toContain('attestationPubKey=')
    expect(withoutKey).not.toContain('attestationPubKey')
    expect(withoutKey).toContain('identityRegistry=')
    expect([withoutIdentities, withoutKey].map(valuesOf)).toEqual(bare.json.chains.map(asText))
  })
})
