import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressRegistryAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { type Address, keccak256, toBytes, zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  CREATE2_FACTORY,
  type DeploymentConfig,
  executePlan,
  parseDeploymentConfig,
  planDeployment,
  readAddressBook,
  writeAddressBook,
} from '../deploy/index.ts'
import { developmentAccounts, type LocalChain, startLocalChain } from '../local/index.ts'

const { deployer, admin, treasury, settler, oracle, publisher, guardian, stranger } = developmentAccounts()
let local: LocalChain
let snapshot: `0x${string}`
let config: DeploymentConfig

beforeAll(async () => {
  local = await startLocalChain()
  config = parseDeploymentConfig({
    chainId: local.chain.id,
    sandbox: true,
    treasury: treasury.address,
    admin: admin.address,
    settlers: [settler.address],
    oracles: [oracle.address],
    publishers: [publisher.address],
    guardians: [guardian.address],
  })
  snapshot = await local.client.snapshot()
})
beforeEach(async () => {
  await local.client.revert({ id: snapshot })
  snapshot = await local.client.snapshot()
})
afterAll(() => local.close())

const plan = (changes: Partial<DeploymentConfig> = {}, book = {}) =>
  planDeployment(local.client, deployer.address, { ...config, ...changes }, book)
const open = (steps: { done: boolean }[]) => steps.filter((step) => !step.done).length
const transactions = () => local.client.getTransactionCount({ address: deployer.address })

async function deploy(changes: Partial<DeploymentConfig> = {}) {
  const made = await plan(changes)
  await executePlan(made, local.client, deployer)
  return made
}

describe('planDeployment', () => {
  it('plans everything on an empty chain and sends nothing', async () => {
    const { addresses, steps } = await plan()
    expect(open(steps)).toBe(steps.length)
    expect(await transactions()).toBe(0)
    for (const address of Object.values(addresses))
      expect(await local.client.getCode({ address })).toBeUndefined()
  })

  it('finds nothing left to do after a deployment, with the address book or without', async () => {
    const { addresses } = await deploy()
    const sent = await transactions()
    for (const book of [addresses, {}]) {
      const again = await plan({}, book)
      expect(open(again.steps)).toBe(0)
      expect(again.addresses).toEqual(addresses)
      await executePlan(again, local.client, deployer)
    }
    expect(await transactions()).toBe(sent)
  })

  it('keeps what the address book names although the code or its settings have changed since', async () => {
    const { addresses } = await deploy()
    const changed = await plan({ feeBps: 900 }, addresses)
    expect(changed.addresses.SplitRouter).toBe(addresses.SplitRouter)
    expect((await plan({ feeBps: 900 })).addresses.SplitRouter).not.toBe(addresses.SplitRouter)
  })

  it('sends only what a change of the parties needs', async () => {
    await deploy()
    const { steps } = await plan({ admin: admin.address, settlers: [settler.address, stranger.address] })
    expect(steps.filter((step) => !step.done).map((step) => step.title)).toEqual([
      `SplitRouter: SETTLER_ROLE to ${stranger.address}`,
    ])
  })

  it('uses the identity registry and the token that the chain has', async () => {
    const { addresses } = await deploy()
    const { IdentityRegistry, USDC } = addresses
    const onTop = await plan({ sandbox: false, identityRegistry: IdentityRegistry, usdc: USDC })
    expect(onTop.steps.some((step) => /deploy (IdentityRegistry|SandboxUSDC)/.test(step.title))).toBe(false)
    expect(onTop.addresses).toMatchObject({ IdentityRegistry, USDC })
  })

  it('refuses a token or registry address at which there is nothing', async () => {
    await expect(plan({ usdc: stranger.address })).rejects.toThrow(
      `usdc: nothing is deployed at ${stranger.address}`,
    )
    await expect(plan({ identityRegistry: stranger.address })).rejects.toThrow(
      'identityRegistry: nothing is deployed',
    )
  })

  it('says so when the chain has no CREATE2 factory', async () => {
    await local.client.setCode({ address: CREATE2_FACTORY, bytecode: '0x' })
    await expect(plan()).rejects.toThrow('no CREATE2 factory')
  })
})

describe('executePlan', () => {
  it('names every part in the address registry [CHAIN-40]', async () => {
    const { addresses } = await deploy()
    const named = (name: string) =>
      local.client.readContract({
        address: addresses.AddressRegistry,
        abi: addressRegistryAbi,
        functionName: 'getAddress',
        args: [keccak256(toBytes(name))],
      })
    expect(await named('SPLIT_ROUTER')).toBe(addresses.SplitRouter)
    expect(await named('REVIEW_REGISTRY')).toBe(addresses.ReviewRegistry)
    expect(await named('IDENTITY_REGISTRY')).toBe(addresses.IdentityRegistry)
    expect(await named('MERCHANT_REGISTRY')).toBe(addresses.MerchantRegistry)
    expect(await named('COMMISSION_ESCROW')).toBe(addresses.CommissionEscrow)
    expect(await named('USDC')).toBe(addresses.USDC)
    expect(await named('TREASURY')).toBe(treasury.address)
  })

  it('hands the admin over in two steps: begun here, accepted by the new admin', async () => {
    const { addresses } = await deploy()
    const router = { address: addresses.SplitRouter, abi: splitRouterAbi } as const
    expect(await local.client.readContract({ ...router, functionName: 'defaultAdmin' })).toBe(
      deployer.address,
    )
    const [pending] = await local.client.readContract({ ...router, functionName: 'pendingDefaultAdmin' })
    expect(pending).toBe(admin.address)
  })

  it('reaches the same end when it is cut off after any step and run again', async () => {
    const whole = await plan()
    for (let cut = 0; cut < whole.steps.length; cut++) {
      await local.client.revert({ id: snapshot })
      snapshot = await local.client.snapshot()
      const crash = executePlan(await plan(), local.client, deployer, (_step, index) => {
        if (index > cut) throw new Error('power cut')
      })
      await expect(crash).rejects.toThrow('power cut')
      const rest = await plan()
      expect(open(rest.steps)).toBe(whole.steps.length - cut)
      await executePlan(rest, local.client, deployer)
      expect(rest.addresses).toEqual(whole.addresses)
      expect(open((await plan()).steps)).toBe(0)
      expect(await transactions()).toBe(whole.steps.length)
    }
  }, 120_000)

  it('lists what only another account can send, with the calldata, and sends nothing', async () => {
    const { addresses } = await deploy({ admin: deployer.address })
    const call = { account: deployer, address: addresses.AddressRegistry, abi: addressRegistryAbi } as const
    await local.client.writeContract({ ...call, functionName: 'transferOwnership', args: [admin.address] })
    await local.client.writeContract({ ...call, account: admin, functionName: 'acceptOwnership' })
    const sent = await transactions()
    const moved = await plan({
      admin: deployer.address,
      registryOwner: admin.address,
      treasury: stranger.address,
    })
    await expect(executePlan(moved, local.client, deployer)).rejects.toThrow(
      new RegExp(
        `TREASURY is ${stranger.address}\\s+from ${admin.address} to ${addresses.AddressRegistry} data 0x`,
      ),
    )
    expect(await transactions()).toBe(sent)
  })
})

describe('parseDeploymentConfig', () => {
  const valid = {
    chainId: 1,
    treasury: treasury.address,
    identityRegistry: stranger.address,
    usdc: stranger.address,
  }

  it('fills in the defaults of the protocol', () => {
    expect(parseDeploymentConfig(valid)).toMatchObject({
      feeBps: 1_000,
      heldBackBps: 5_000,
      windowSeconds: 60 * 86_400,
      fallbackDelaySeconds: 10 * 86_400,
      sandbox: false,
    })
  })

  it.each([
    [{ ...valid, treasury: 'nobody' }, 'treasury'],
    [{ ...valid, settlers: ['0x12'] }, 'settlers'],
    [{ ...valid, feeBps: 10_001 }, 'feeBps'],
    [{ ...valid, windowSeconds: 0 }, 'windowSeconds'],
    [{ ...valid, treasure: zeroAddress }, 'treasure'],
    [{ ...valid, usdc: undefined }, 'name identityRegistry and usdc'],
  ])('refuses %j and names the field', (input, field) => {
    expect(() => parseDeploymentConfig(input)).toThrow(field)
  })
})

describe('the example configs', () => {
  it.each(['base', 'base-sepolia'])(
    '%s is refused until its parties are filled in, and complete then',
    (name) => {
      const path = new URL(`../deployments/${name}.example.json`, import.meta.url)
      const example = JSON.parse(readFileSync(path, 'utf8'))
      expect(() => parseDeploymentConfig(example)).toThrow(/treasury(.|\n)*guardians/)
      const parties = { treasury: treasury.address, admin: admin.address, registryOwner: admin.address }
      const roles = { settlers: [], oracles: [], publishers: [], guardians: [] }
      expect(parseDeploymentConfig({ ...example, ...parties, ...roles })).toMatchObject({ sandbox: false })
    },
  )
})

describe('the address book', () => {
  const path = () => join(mkdtempSync(join(tmpdir(), 'referrer-book-')), 'book.json')
  const contracts = Object.fromEntries(
    [
      'AddressRegistry',
      'IdentityRegistry',
      'MerchantRegistry',
      'ReviewRegistry',
      'CommissionEscrow',
      'SplitRouter',
      'USDC',
    ].map((name) => [name, stranger.address as Address]),
  ) as unknown as Parameters<typeof writeAddressBook>[1]['contracts']

  it('reads back what was written, and nothing where nothing was', () => {
    const file = path()
    expect(readAddressBook(file, 7)).toBeUndefined()
    writeAddressBook(file, { chainId: 7, startBlock: 3, contracts })
    expect(readAddressBook(file, 7)).toEqual({ chainId: 7, startBlock: 3, contracts })
  })

  it('refuses the book of another chain', () => {
    const file = path()
    writeAddressBook(file, { chainId: 7, startBlock: 3, contracts })
    expect(() => readAddressBook(file, 8)).toThrow('address book of chain 7, not of 8')
  })

  it('refuses a damaged book', () => {
    const file = path()
    writeFileSync(file, '{"chainId":')
    expect(() => readAddressBook(file, 8)).toThrow()
  })
})
