// A signer that knows the marketplace's URL and a node only believes what the chain confirms.
import { executePlan, parseDeploymentConfig, planDeployment } from '@referrer/contracts/deploy'
import { startLocalChain } from '@referrer/contracts/local'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { keccak256, stringToBytes } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Marketplace, PRICE, startMarketplace } from './marketplace.ts'
import { type Relay, startRelay } from './runner.ts'
import { newStateDir, startSigner, type TestSigner } from './signer.ts'

const MANIFEST = '/.well-known/referrer-agent'

let place: Marketplace
/** Between the signer and the marketplace. */
let market: Relay
const signers: TestSigner[] = []

beforeAll(async () => {
  place = await startMarketplace()
  market = await startRelay(place.m.service.url)
})
afterEach(async () => {
  market.after = undefined
  for (const signer of signers.splice(0)) await signer.close()
})
afterAll(async () => {
  await market?.close()
  await place?.close()
})

/** A key, the marketplace and a node. */
function envOf(change: Record<string, string> = {}): Record<string, string> {
  const { AGENT_KEYS = '', BASE_RPC_URL = '' } = place.env
  return {
    AGENT_KEYS,
    BASE_RPC_URL,
    REFERRER_AGENT_MCP_URL: `${market.url}/mcp`,
    ALLOW_PRIVATE_HOSTS: 'true',
    ...change,
  }
}

async function start(change?: Record<string, string>): Promise<TestSigner> {
  const signer = await startSigner(envOf(change))
  signers.push(signer)
  return signer
}

const order = () => ({ ref_link: place.refLink, agent_id: place.agentId, max_amount: String(PRICE) })
const refusedPayment = (signer: TestSigner) => signer.refusal('pay_for_product', order())

/** The manifest with other values in its chain. */
function lie(change: Record<string, unknown>): void {
  market.after = (path, text) => {
    if (path !== MANIFEST) return text
    const manifest = JSON.parse(text)
    manifest.chains[0] = { ...manifest.chains[0], ...change }
    return JSON.stringify(manifest)
  }
}

it('pays with nothing but the URL, with or without /mcp and by either name, and a node', async () => {
  for (const change of [
    { REFERRER_AGENT_MCP_URL: market.url },
    { REFERRER_AGENT_MCP_URL: '', REFERRER_URL: `${market.url}/` },
  ] as Record<string, string>[]) {
    const signer = await start(change)
    expect(await signer.must('pay_for_product', order())).toMatchObject({ amount: Number(PRICE) })
  }
})

it('refuses two different marketplaces', async () => {
  await expect(start({ REFERRER_URL: 'https://market.example' })).rejects.toThrow()
})

describe('a manifest that lies', () => {
  it.each(['splitRouter', 'reviewRegistry', 'identityRegistry'])(
    'about %s is not believed',
    async (field) => {
      lie({ [field]: place.m.market.addresses.USDC })
      const signer = await start()
      const before = await place.balanceOf(place.m.market.accounts.buyer.address)
      expect(await refusedPayment(signer)).toMatch(/do not use this market$/)
      expect(await place.balanceOf(place.m.market.accounts.buyer.address)).toBe(before)
      // It may have been an error of the marketplace, which it corrects.
      market.after = undefined
      await signer.must('pay_for_product', order())
    },
  )
})

describe('a marketplace whose address registry changes', () => {
  it('is refused until the operator accepts the new one, also in a new process', async () => {
    const { client, accounts } = place.m.market
    const other = accounts.stranger
    const config = parseDeploymentConfig({ chainId: place.m.chainId, sandbox: true, treasury: other.address })
    const plan = await planDeployment(client, other.address, config)
    await executePlan(plan, client, { address: other.address, type: 'json-rpc' })
    const { AddressRegistry, SplitRouter, ReviewRegistry, IdentityRegistry } = plan.addresses
    const SIGNER_STATE_DIR = newStateDir()

    const trusting = await startSigner(envOf({ SIGNER_STATE_DIR }))
    expect(await trusting.must('get_wallet_status')).toMatchObject({ chain_problem: null })
    await trusting.client.close()

    lie({ splitRouter: SplitRouter, reviewRegistry: ReviewRegistry, identityRegistry: IdentityRegistry })
    const later = await start({ SIGNER_STATE_DIR })
    const refusal = new RegExp(
      `^the market at ${market.url} had the address registry ${place.m.market.addresses.AddressRegistry}, and now has ${AddressRegistry}: .*ADDRESS_REGISTRY=${AddressRegistry}$`,
    )
    expect(await refusedPayment(later)).toMatch(refusal)
    expect((await later.must('get_wallet_status')).chain_problem).toMatch(refusal)

    const accepting = await startSigner(envOf({ SIGNER_STATE_DIR, ADDRESS_REGISTRY: AddressRegistry }))
    expect(await accepting.must('get_wallet_status')).toMatchObject({ chain_problem: null })
    await accepting.client.close()
    const accepted = await startSigner(envOf({ SIGNER_STATE_DIR }))
    expect(await accepted.must('get_wallet_status')).toMatchObject({ chain_problem: null })
    await accepted.client.close()

    market.after = undefined
    const pinned = await start({ ADDRESS_REGISTRY: AddressRegistry })
    expect(await refusedPayment(pinned)).toMatch(/uses the address registry 0x\w+, and you trust 0x\w+: /)
  })
})

describe('an environment that contradicts the marketplace', () => {
  it.each(['COMMISSION_ESCROW_ADDRESS', 'REVIEW_REGISTRY_ADDRESS'])('in %s is refused', async (name) => {
    const wrong = place.m.market.addresses.USDC
    const signer = await start({ [name]: wrong })
    expect(await refusedPayment(signer)).toMatch(
      new RegExp(
        `^${name} is ${wrong}, and that of the market at ${market.url} is 0x\\w+: correct it, or leave it out$`,
      ),
    )
  })

  it('in CHAIN_ID is refused', async () => {
    const signer = await start({ CHAIN_ID: '8453' })
    expect(await refusedPayment(signer)).toMatch(/^CHAIN_ID is 8453, and that of the market at .* is 31337: /)
  })
})

describe('tools are listed, and refuse in one line', () => {
  async function expectRefusals(change: Record<string, string>, why: RegExp) {
    const signer = await start(change)
    expect((await signer.client.listTools()).tools.length).toBeGreaterThan(10)
    for (const tool of ['setup', 'pay_for_product'] as const) {
      const refusal = await signer.refusal(tool, tool === 'setup' ? {} : order())
      expect(refusal).toMatch(why)
      expect(refusal).not.toContain('\n')
    }
    expect((await signer.must('get_wallet_status')).chain_problem).toMatch(why)
  }

  it('where no marketplace answers', async () => {
    await expectRefusals(
      { REFERRER_AGENT_MCP_URL: 'http://127.0.0.1:1' },
      /^no market answers at http:\/\/127\.0\.0\.1:1\//,
    )
  })

  it('where something else than a marketplace answers', async () => {
    await expectRefusals(
      { REFERRER_AGENT_MCP_URL: place.facilitatorUrl },
      /^what answers at .* is no market \(status 404\)/,
    )
  })

  it('where the node serves another chain [SIGN-87]', async () => {
    const chain = await startLocalChain({ chainId: 777, port: 0 })
    try {
      await expectRefusals(
        { BASE_RPC_URL: chain.rpcUrl ?? '' },
        /^the node serves chain 777, and the market at \S+ works on 31337: /,
      )
    } finally {
      await chain.close()
    }
  })

  it('where no node answers', async () => {
    await expectRefusals({ BASE_RPC_URL: 'http://127.0.0.1:1' }, /^the chain cannot be asked: /)
  })
})

it('does not pay through a router whose deposits the escrow refuses, whatever the address registry says', async () => {
  const { client, addresses, accounts } = place.m.market
  const change = async (functionName: 'grantRole' | 'revokeRole') => {
    const role = keccak256(stringToBytes('DEPOSITOR_ROLE'))
    const hash = await client.writeContract({
      account: accounts.admin,
      address: addresses.CommissionEscrow,
      abi: commissionEscrowAbi,
      functionName,
      args: [role, addresses.SplitRouter],
    })
    await client.waitForTransactionReceipt({ hash })
  }
  const [signer, named] = [await start(), await start(place.env)]
  const asked: unknown[] = []
  place.before = () => void asked.push(1)
  await change('revokeRole')
  try {
    for (const one of [signer, named]) {
      expect(await refusedPayment(one)).toMatch(/ takes no deposits of it: .*; nothing was paid$/)
    }
    expect(asked).toEqual([])
  } finally {
    place.before = undefined
    await change('grantRole')
  }
  await signer.must('pay_for_product', order())
})
