import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { createPublicClient, http, keccak256, toBytes } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freeOffset, PATIENCE_MS, runSandbox, startTestSandbox, type TestSandbox } from '../test/sandbox.ts'
import { readPorts } from './ports.ts'
import { databaseDirectory, statePath as defaultPath, type SandboxState } from './state.ts'

describe('npm start', () => {
  let sandbox: TestSandbox
  let state: SandboxState
  let account: TestSandbox['account']

  beforeAll(async () => {
    sandbox = await startTestSandbox()
    ;({ state, account } = sandbox)
  }, PATIENCE_MS)
  afterAll(() => sandbox?.end())

  const statePath = () => join(sandbox.directory, 'state.json')
  const databaseOf = (offset: string) =>
    databaseDirectory(defaultPath({ PORT_OFFSET: offset }), readPorts({ PORT_OFFSET: offset }).service)
  const again = (offset: string) => runSandbox({ PORT_OFFSET: offset })
  const client = () => createPublicClient({ transport: http(state.rpcUrl), cacheTime: 0 })

  it('serves a chain on which every contract is deployed', async () => {
    expect(await client().getChainId()).toBe(state.chainId)
    expect(Object.keys(state.contracts)).toEqual([
      'AddressRegistry',
      'IdentityRegistry',
      'MerchantRegistry',
      'ReviewRegistry',
      'CommissionEscrow',
      'SplitRouter',
      'USDC',
      'ReputationRegistry',
    ])
    for (const address of Object.values(state.contracts)) {
      expect(await client().getCode({ address })).toMatch(/^0x[0-9a-f]{2}/)
    }
  })

  it('has an account with its key for every part in the market', () => {
    const roles = [
      'deployer',
      'admin',
      'oracle',
      'settler',
      'merchant',
      'reviewer',
      'buyer',
      'walletBuyer',
      'stranger',
    ]
    for (const role of roles)
      expect(privateKeyToAddress(account(role).privateKey)).toBe(account(role).address)
    expect(account('merchant').merchantId).toBeGreaterThan(0)
    expect(account('reviewer').agentId).toBeGreaterThan(0)
    expect(account('buyer').agentId).toBeGreaterThan(0)
    expect(account('walletBuyer')).not.toHaveProperty('agentId')
  })

  it('funds the buyers and gives the stranger gas only', async () => {
    const usdcOf = (role: string) =>
      client().readContract({
        address: state.contracts.USDC,
        abi: sandboxUSDCAbi,
        functionName: 'balanceOf',
        args: [account(role).address],
      })
    expect(await usdcOf('buyer')).toBeGreaterThan(0n)
    expect(await usdcOf('walletBuyer')).toBeGreaterThan(0n)
    expect(await usdcOf('stranger')).toBe(0n)
    expect(await client().getBalance({ address: account('stranger').address })).toBeGreaterThan(0n)
  })

  it('gives the roles to the accounts that are named for them', async () => {
    const router = { address: state.contracts.SplitRouter, abi: splitRouterAbi } as const
    const role = keccak256(toBytes('SETTLER_ROLE'))
    const holds = (name: string) =>
      client().readContract({ ...router, functionName: 'hasRole', args: [role, account(name).address] })
    expect(await holds('settler')).toBe(true)
    expect(await holds('deployer')).toBe(false)
    expect(await client().readContract({ ...router, functionName: 'defaultAdmin' })).toBe(
      account('admin').address,
    )
  })

  it('runs the service, which has read the whole chain', async () => {
    expect((await fetch(`${state.baseUrl}/readyz`)).status).toBe(200)
    // Somebody may make a block between the two questions.
    await expect
      .poll(async () => {
        const head = await client().getBlockNumber()
        const metrics = await (await fetch(`${state.baseUrl}/metrics`)).text()
        return metrics.includes(`referrer_chain_indexed_block{chain="${state.chainId}"} ${head}\n`)
      })
      .toBe(true)
  })

  it('runs the facilitator and the shop', async () => {
    const supported = await (await fetch(`${state.facilitatorUrl}/supported`)).json()
    expect(supported.kinds).toContainEqual(
      expect.objectContaining({ x402Version: 2, scheme: 'exact', network: `eip155:${state.chainId}` }),
    )
    expect(state.products).toHaveLength(3)
    for (const { merchantId, productId, endpointUrl } of state.products) {
      expect(merchantId).toBe(account('merchant').merchantId)
      expect(productId).toMatch(/^0x[0-9a-f]{64}$/)
      expect((await fetch(endpointUrl)).status).toBe(402)
    }
  })

  it('runs a chat with the bot, whose page reads the clock of the chain', async () => {
    const page = await fetch(state.chatUrl)
    expect(await page.text()).toContain('<title>Chat with the bot</title>')
    const ahead = async () => (await (await fetch(`${state.chatUrl}/clock`)).json()).aheadSeconds
    // Blocks of one second carry times one after another, so that the chain may be a little ahead.
    expect(Math.abs(await ahead())).toBeLessThan(60)
  })

  it('writes down where everything is', () => {
    expect(Object.keys(state)).toEqual([
      'baseUrl',
      'mcpUrl',
      'facilitatorUrl',
      'shopUrl',
      'chatUrl',
      'faucetUrl',
      'rpcUrl',
      'chainId',
      'contracts',
      'attestationPubKey',
      'accounts',
      'products',
    ])
    for (const url of [
      state.baseUrl,
      state.mcpUrl,
      state.facilitatorUrl,
      state.shopUrl,
      state.chatUrl,
      state.faucetUrl,
      state.rpcUrl,
    ])
      expect(sandbox.output.text).toContain(url)
  })

  it('has a test network for its default chain [CONV-02]', async () => {
    const manifest = await (await fetch(`${state.baseUrl}/.well-known/referrer-agent`)).json()
    expect(manifest.chains[0].chainId).toBe(31_337)
    const reviews = async (query = '') => (await fetch(`${state.baseUrl}/v1/review${query}`)).text()
    // What derives from the reviews may still be written between the two.
    await vi.waitFor(async () => expect(await reviews()).toBe(await reviews('?chain_id=31337')), {
      timeout: 20_000,
    })
  })

  it('says in one line what to do when its port is taken, and leaves the running one alone', async () => {
    const second = again(sandbox.offset)
    const [code] = await second.ended
    expect(code).toBe(1)
    expect(second.output.text.trim()).toMatch(/^port \d+ \(chain\) is in use: .*PORT_OFFSET=\d+ npm start$/)
    expect(existsSync(statePath())).toBe(true)
  })

  it('says in one line that a running one has its directory, and leaves it alone', async () => {
    const second = runSandbox({ SANDBOX_DIR: sandbox.directory, PORT_OFFSET: await freeOffset() })
    const [code] = await second.ended
    expect(code).toBe(1)
    expect(second.output.text.trim()).toBe(
      `the sandbox at ${state.baseUrl} keeps its state in ${sandbox.directory}: stop it, or name another directory with SANDBOX_DIR`,
    )
    expect(existsSync(statePath())).toBe(true)
  })

  it('ends everything on Ctrl-C and takes its state file and its database along', async () => {
    expect(existsSync(databaseOf(sandbox.offset))).toBe(true)
    sandbox.child.kill('SIGINT')
    expect(await sandbox.ended).toEqual([0, null])
    expect(existsSync(statePath())).toBe(false)
    expect(existsSync(databaseOf(sandbox.offset))).toBe(false)
    await expect(client().getChainId()).rejects.toThrow()
    for (const url of [state.baseUrl, state.facilitatorUrl, state.shopUrl, state.chatUrl])
      await expect(fetch(url)).rejects.toThrow()
  })
})

describe('npm start, asked oddly', () => {
  it('explains itself with --help', async () => {
    const { output, ended } = runSandbox({}, ['--help'])
    expect((await ended)[0]).toBe(0)
    expect(output.text).toContain('PORT_OFFSET')
  })

  it('refuses a PORT_OFFSET that is no number', async () => {
    const { output, ended } = runSandbox({ PORT_OFFSET: 'far' })
    expect((await ended)[0]).toBe(1)
    expect(output.text.trim()).toBe('PORT_OFFSET must be a whole number from 0 to 56000, not "far"')
  })
})
