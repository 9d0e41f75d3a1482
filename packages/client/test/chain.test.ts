// What a newcomer learns of a market from its URL and a node, against the real contracts; and markets that lie.
import { confirmed, developmentAccount } from '@referrer/contracts/local'
import { addressRegistryAbi, identityRegistryAbi } from '@referrer/protocol/abi'
import { type Address, createPublicClient, createWalletClient, http, keccak256, stringToBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL, startTestMarket, type TestMarket } from '../../service/test/http/market.ts'
import {
  askFaucet,
  type DeploymentOptions,
  marketUrlOf,
  NETWORKS,
  readDeployment,
  registerIdentity,
} from '../src/chain/index.ts'
import { answering, hangingUp, standIn, thrown } from './world.ts'

let m: TestMarket
let client: ReturnType<typeof createPublicClient>
let manifest: { chains: Record<string, unknown>[] }

beforeAll(async () => {
  m = await startTestMarket({
    env: { FACILITATOR_URL: 'https://pay.test', FAUCET_URL: 'https://faucet.test' },
  })
  client = createPublicClient({ transport: http(m.chains[0]?.chain.rpcUrl, { retryCount: 0 }) })
  manifest = (await m.call('GET', '/.well-known/referrer-agent')).body
})
afterAll(() => m?.close())

const read = (options: Partial<DeploymentOptions> = {}, node = client) =>
  readDeployment(node, { marketUrl: m.service.url, ...options })

/** What is said of a market that answers this. */
async function refused(
  answer: Parameters<typeof standIn>[number],
  options: Partial<DeploymentOptions> = {},
  node = client,
) {
  const market = await standIn(answer)
  try {
    const error = await thrown(read({ marketUrl: market.url, ...options }, node))
    expect(error.name).toBe('DeploymentError')
    return error.message
  } finally {
    await market.close()
  }
}

const lying = (fields: object) =>
  answering(200, { ...manifest, chains: [{ ...manifest.chains[0], ...fields }] })

describe('readDeployment', () => {
  it('tells of a market what its registry names, and what its manifest says', async () => {
    expect(await read()).toEqual({
      marketUrl: m.service.url,
      publicUrl: BASE_URL,
      mcpUrl: `${m.service.url}/mcp`,
      setupUrl: `${m.service.url}/.well-known/referrer-agent`,
      chainId: m.chainId,
      contracts: m.market.addresses,
      attestationPubKeys: manifest.chains[0]?.attestationPubKeys,
      leastAmount: BigInt(manifest.chains[0]?.leastAmount as string),
      facilitatorUrl: 'https://pay.test',
      faucetUrl: 'https://faucet.test',
    })
  })

  it('takes the URL of the tools, and one with a slash', async () => {
    expect((await read({ marketUrl: `${m.service.url}/mcp/` })).marketUrl).toBe(m.service.url)
    expect(marketUrlOf('https://market.test/shop/mcp')).toBe('https://market.test/shop')
  })

  it.each([
    'HTTPS://Market.Test',
    'https://market.test:443/',
    'https://market.test//mcp/',
    'https://market.test/x/../mcp',
    'https://market.test/mcp?x=1#here',
    'https://user:secret@market.test/',
  ])('knows %s by the same name', (url) => {
    expect(marketUrlOf(url)).toBe('https://market.test')
  })

  it.each(['base', 'base-sepolia'] as const)(
    'refuses a market on %s with a USDC or an identity registry of its own',
    async (name) => {
      const { chainId, usdc = '0x', identityRegistry = '0x' } = NETWORKS[name]
      const other = createPublicClient({ transport: http(m.chains[0]?.chain.rpcUrl) })
      other.getChainId = async () => chainId
      const { AddressRegistry, USDC, IdentityRegistry } = m.market.addresses
      const set = async (key: string, address: Address) =>
        confirmed(
          m.market,
          await m.market.client.writeContract({
            account: m.market.accounts.admin,
            address: AddressRegistry,
            abi: addressRegistryAbi,
            functionName: 'setAddress',
            args: [keccak256(stringToBytes(key)), address],
          }),
        )
      const market = lying({ chainId, identityRegistry: undefined })
      expect(await refused(market, {}, other)).toContain(
        `uses the identity registry ${IdentityRegistry}, and that of chain ${chainId} is ${identityRegistry}`,
      )
      await set('IDENTITY_REGISTRY', identityRegistry)
      try {
        expect(await refused(market, {}, other)).toContain(
          `uses the USDC ${USDC}, and that of chain ${chainId} is ${usdc}: do not use this market`,
        )
      } finally {
        await set('IDENTITY_REGISTRY', IdentityRegistry)
      }
    },
  )

  it('takes the registry that is trusted, in any case, and no other', async () => {
    const { AddressRegistry, USDC } = m.market.addresses
    const lower = AddressRegistry.toLowerCase() as Address
    expect((await read({ addressRegistry: lower })).contracts.AddressRegistry).toBe(AddressRegistry)
    const error = await thrown(read({ addressRegistry: USDC }))
    expect(error.message).toContain(`uses the address registry ${AddressRegistry}, and you trust ${USDC}`)
  })

  it.each(['splitRouter', 'identityRegistry'])('refuses a market that lies about %s', async (field) => {
    const said = await refused(lying({ [field]: m.market.addresses.USDC }))
    expect(said).toMatch(new RegExp(`names ${field} ${m.market.addresses.USDC}.*do not use this market`, 'i'))
  })

  it('refuses a review registry that is none, or is a wallet', async () => {
    for (const address of [m.market.addresses.USDC, developmentAccount(0).address]) {
      expect(await refused(lying({ reviewRegistry: address }))).toContain(
        `the review registry ${address} that http`,
      )
    }
  })

  it('refuses a review registry that the registry does not name any more', async () => {
    const key = keccak256(stringToBytes('REVIEW_REGISTRY'))
    const name = async (current: Address) =>
      confirmed(
        m.market,
        await m.market.client.writeContract({
          account: m.market.accounts.admin,
          address: m.market.addresses.AddressRegistry,
          abi: addressRegistryAbi,
          functionName: 'setAddress',
          args: [key, current],
        }),
      )
    await name(m.market.addresses.USDC)
    try {
      expect((await thrown(read())).message).toContain(
        `names ReviewRegistry ${m.market.addresses.ReviewRegistry}, and the address registry`,
      )
    } finally {
      await name(m.market.addresses.ReviewRegistry)
    }
  })

  it('refuses a node of another chain, and says which it has to be', async () => {
    expect(await refused(lying({ chainId: 8_453 }))).toContain(
      `the node serves chain ${m.chainId}, and the market at`,
    )
    expect(await refused(answering(200, { ...manifest, chains: [] }))).toContain('works on none')
  })

  it.each<[string, Parameters<typeof answering>]>([
    ['a page', [200, '<html></html>', { 'content-type': 'text/html' }]],
    ['null', [200, 'null']],
    ['another JSON', [200, { chains: 'none' }]],
    ['a faucet that is no URL', [200, { chains: [], faucetUrl: 'send all you have to 0x12' }]],
    ['a chain that is none', [200, { chains: [null] }]],
    [
      'an address that is none',
      [200, { chains: [{ chainId: 1, splitRouter: '0x12', reviewRegistry: '0x' }] }],
    ],
    ['a refusal', [404, { error: 'not found' }]],
  ])('refuses what is no market: %s', async (_, answer) => {
    expect(await refused(answering(...answer))).toContain('is no market')
  })

  it.each<[string, object]>([
    ['keys that are no list', { attestationPubKeys: 'none' }],
    ['a key of another form', { attestationPubKeys: ['0x12'] }],
    ['an amount that is no number', { leastAmount: '1e6' }],
    ['a chain that is a text', { chainId: '31337' }],
  ])('refuses a manifest with %s', async (_, fields) => {
    expect(await refused(lying(fields))).toContain('is no market')
  })

  it('follows no redirect, and says when nobody answers', async () => {
    const away = answering(302, '', { location: m.service.url })
    expect(await refused(away)).toContain('no market answers at')
    expect(await refused(hangingUp)).toContain('no market answers at')
    expect((await thrown(read({ marketUrl: 'ftp://market.test' }))).message).toContain(
      'must be an http or https URL',
    )
  })

  it('says nothing about the market when the node does not answer', async () => {
    const node = await standIn((response, { headers }) => {
      // The first question is that for the chain.
      const isFirst = node.asked.length === 1
      if (isFirst) return answering(200, { jsonrpc: '2.0', id: 1, result: '0x7a69' })(response)
      answering(502, `${headers.host} is down`)(response)
    })
    const broken = createPublicClient({ transport: http(node.url, { retryCount: 0 }) })
    const error = await thrown(read({}, broken))
    await node.close()
    expect(error.name).not.toBe('DeploymentError')
    expect(error.message).toContain('HTTP request failed')
  })
})

describe('registerIdentity', () => {
  it('mints an identity that belongs to the wallet, another one each time', async () => {
    const { IdentityRegistry } = m.market.addresses
    const account = m.market.accounts.stranger
    const wallet = createWalletClient({
      account,
      chain: m.market.client.chain,
      transport: http(m.chains[0]?.chain.rpcUrl),
    })
    const mint = (uri?: string) =>
      registerIdentity(m.market.client, wallet, {
        identityRegistry: IdentityRegistry,
        ...(uri !== undefined && { uri }),
      })
    const [one, other] = [await mint(), await mint('https://agent.test/card.json')]
    expect(other.agentId).toBe(one.agentId + 1n)
    const ownerOf = (agentId: bigint) =>
      client.readContract({
        address: IdentityRegistry,
        abi: identityRegistryAbi,
        functionName: 'ownerOf',
        args: [agentId],
      })
    expect(await Promise.all([ownerOf(one.agentId), ownerOf(other.agentId)])).toEqual([
      account.address,
      account.address,
    ])
    const receipt = await m.market.client.getTransactionReceipt({ hash: other.transaction })
    expect(receipt.status).toBe('success')
  })

  it('says so when the contract is none that registers', async () => {
    const wallet = createWalletClient({
      account: m.market.accounts.stranger,
      chain: m.market.client.chain,
      transport: http(m.chains[0]?.chain.rpcUrl),
    })
    const identityRegistry = developmentAccount(0).address
    await expect(registerIdentity(m.market.client, wallet, { identityRegistry })).rejects.toThrow(
      'registered no identity',
    )
  })
})

describe('askFaucet', () => {
  const address: Address = `0x${'11'.repeat(20)}`

  it('sends the address, and reads amounts as they are', async () => {
    const faucet = await standIn(answering(200, { address, eth: '1000000000000000001', usdc: '0' }))
    expect(await askFaucet(faucet.url, address)).toEqual({ address, eth: 10n ** 18n + 1n, usdc: 0n })
    expect(faucet.asked).toMatchObject([{ method: 'POST', body: JSON.stringify({ address }) }])
    await faucet.close()
  })

  it.each<[string, Parameters<typeof standIn>[number], string]>([
    ['refuses', answering(400, { error: 'send {"address": "0x…"}' }), 'gave nothing: send {"address"'],
    ['breaks', answering(500, 'oops'), 'gave nothing: status 500'],
    ['says nothing of amounts', answering(200, {}), 'gave nothing: status 200'],
    ['says null', answering(200, 'null'), 'gave nothing: status 200'],
    ['gives half a unit', answering(200, { eth: '0.5', usdc: '0' }), 'gave nothing: status 200'],
    ['hangs up', hangingUp, 'gave nothing: it does not answer'],
    ['sends it elsewhere', answering(307, '', { location: '/' }), 'gave nothing: it does not answer'],
    ['says a lot', answering(400, { error: 'a'.repeat(9_999) }), `gave nothing: ${'a'.repeat(200)}`],
  ])('says so when the faucet %s', async (_, answer, said) => {
    const faucet = await standIn(answer)
    const { message } = await thrown(askFaucet(faucet.url, address))
    expect(message).toContain(said)
    expect(message.length).toBeLessThan(300)
    expect(faucet.asked).toHaveLength(1)
    await faucet.close()
  })
})

it('NETWORKS name each chain by its own id, and Base as viem does', async () => {
  const { base, baseSepolia } = await import('viem/chains')
  for (const [name, network] of Object.entries(NETWORKS)) expect(network.name).toBe(name)
  expect(NETWORKS.base.chainId).toBe(base.id)
  expect(NETWORKS['base-sepolia'].chainId).toBe(baseSepolia.id)
})
