import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundled } from '@referrer/database/testing'
import { addressRegistryAbi, splitRouterAbi } from '@referrer/protocol/abi'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CREATE2_FACTORY } from '../deploy/index.ts'
import { developmentAccounts, type LocalChain, privateKeyOf, startLocalChain } from '../local/index.ts'

const AS_WRITTEN = new URL('../deploy/main.ts', import.meta.url)
const MAIN = await bundled(AS_WRITTEN)
const { deployer, treasury, settler, admin, guardian } = developmentAccounts()
const directory = mkdtempSync(join(tmpdir(), 'referrer-deploy-'))
const config = join(directory, 'config.json')
const book = join(directory, 'book.json')
const key = privateKeyOf(deployer)
let local: LocalChain

beforeAll(async () => {
  local = await startLocalChain({ port: 0 })
  const parties = { treasury: treasury.address, settlers: [settler.address] }
  writeFileSync(config, JSON.stringify({ chainId: local.chain.id, sandbox: true, ...parties }))
})
afterAll(() => local.close())

function deploy(args: string[], env: Record<string, string | undefined> = {}, program = MAIN) {
  const full = { ...process.env, RPC_URL: local.rpcUrl, DEPLOYER_PRIVATE_KEY: key, ...env }
  return new Promise<{ code: number; output: string }>((resolve) => {
    execFile(process.execPath, [program, ...args], { env: full }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    )
  })
}
const sent = () => local.client.getTransactionCount({ address: deployer.address })

describe('npm run deploy', () => {
  it('shows the whole plan on a dry run, without a key, and sends and writes nothing', async () => {
    const env = { DEPLOYER_PRIVATE_KEY: undefined, DEPLOYER_ADDRESS: deployer.address }
    const asWritten = fileURLToPath(AS_WRITTEN)
    const { code, output } = await deploy(['--config', config, '--book', book, '--dry-run'], env, asWritten)
    expect(code).toBe(0)
    expect(output).toMatch(/^· deploy SplitRouter at 0x/m)
    expect(output).toMatch(/\d+ transactions left, about \d+ gas/)
    expect(await sent()).toBe(0)
    expect(existsSync(book)).toBe(false)
  })

  it('deploys, writes the address book, and does nothing the second time', async () => {
    const first = await deploy(['--config', config, '--book', book])
    expect(first.code).toBe(0)
    const { chainId, contracts } = JSON.parse(readFileSync(book, 'utf8'))
    expect(chainId).toBe(local.chain.id)
    expect(await local.client.getCode({ address: contracts.SplitRouter })).toBeDefined()
    const before = await sent()
    const second = await deploy(['--config', config, '--book', book])
    expect(second).toMatchObject({ code: 0, output: expect.stringContaining('nothing left to do') })
    expect(await sent()).toBe(before)
  })

  it('never prints the key', async () => {
    const { output } = await deploy(['--config', config, '--book', book])
    expect(output).not.toContain(key.slice(2))
  })

  it.each([
    ['no config', [], {}, 'name a config with --config'],
    ['an unknown command', ['acept', '--config', config], {}, 'there is no command "acept"'],
    [
      'nothing deployed that could be accepted',
      ['accept', '--config', config, '--book', '/nowhere.json'],
      {},
      'there is no address book at /nowhere.json: deploy first',
    ],
    ['a missing file', ['--config', '/nowhere.json'], {}, '/nowhere.json'],
    ['no RPC endpoint', ['--config', config], { RPC_URL: undefined }, 'set RPC_URL'],
    [
      'a dead RPC endpoint',
      ['--config', config],
      { RPC_URL: 'http://127.0.0.1:9' },
      'RPC_URL does not answer',
    ],
    ['no key', ['--config', config], { DEPLOYER_PRIVATE_KEY: undefined }, 'set DEPLOYER_PRIVATE_KEY'],
    [
      'a malformed key',
      ['--config', config],
      { DEPLOYER_PRIVATE_KEY: '0x12' },
      'must be 0x and 64 hex digits',
    ],
  ])('says what to do about %s', async (_, args, env, message) => {
    const { code, output } = await deploy(args, env)
    expect(code).toBe(1)
    expect(output).toContain(message)
    expect(output).not.toContain('    at ')
  })

  it('refuses an endpoint that serves another chain than the config names', async () => {
    const other = join(directory, 'other.json')
    writeFileSync(other, JSON.stringify({ chainId: 7, sandbox: true, treasury: treasury.address }))
    const { code, output } = await deploy(['--config', other])
    expect(code).toBe(1)
    expect(output).toContain(`RPC_URL serves chain ${local.chain.id}, the config is for chain 7`)
  })
})

describe('npm run deploy -- factory', () => {
  it('brings the CREATE2 factory to a chain without it, once, and a deployment works from there', async () => {
    const bare = await startLocalChain({ port: 0 })
    try {
      const env = { RPC_URL: bare.rpcUrl }
      const factory = { address: CREATE2_FACTORY }
      const code = await bare.client.getCode(factory)
      await bare.client.setCode({ ...factory, bytecode: '0x' })
      const onto = ['--config', config, '--book', join(directory, 'bare.json')]
      const without = await deploy(onto, env)
      expect(without).toMatchObject({ code: 1, output: expect.stringContaining('the command "factory"') })

      const first = await deploy(['factory', '--config', config], env)
      expect(first).toMatchObject({ code: 0, output: expect.stringContaining('sending 0.01 ETH') })
      expect(await bare.client.getCode(factory)).toBe(code)
      const again = await deploy(['factory', '--config', config], env)
      expect(again).toMatchObject({ code: 0, output: expect.stringContaining('already') })
      expect(await bare.client.getTransactionCount({ address: deployer.address })).toBe(1)
      expect(await deploy(onto, env)).toMatchObject({ code: 0 })
    } finally {
      await bare.close()
    }
  })
})

describe('npm run deploy -- accept', () => {
  it('takes over what was handed to the key once its time has come, and prints what others have to accept', async () => {
    const own = join(directory, 'own.json')
    const ownBook = join(directory, 'own-book.json')
    const parties = { treasury: treasury.address, admin: admin.address, registryOwner: guardian.address }
    writeFileSync(
      own,
      JSON.stringify({ chainId: local.chain.id, sandbox: true, adminDelay: 3_600, ...parties }),
    )
    expect(await deploy(['--config', own, '--book', ownBook])).toMatchObject({ code: 0 })
    const { contracts } = JSON.parse(readFileSync(ownBook, 'utf8'))
    const ask = (env: Record<string, string | undefined> = {}) =>
      deploy(['accept', '--config', own, '--book', ownBook], { DEPLOYER_PRIVATE_KEY: undefined, ...env })
    const adminOf = (address: Address) =>
      local.client.readContract({ address, abi: splitRouterAbi, functionName: 'defaultAdmin' })

    const early = await ask({ ADMIN_PRIVATE_KEY: privateKeyOf(admin) })
    expect(early.code).toBe(0)
    expect(early.output.match(/^! .*become admin: to be sent by 0x\w+, after \d{4}-/gm)).toHaveLength(4)
    expect(await adminOf(contracts.SplitRouter)).toBe(deployer.address)

    await local.client.increaseTime({ seconds: 3_601 })
    await local.client.mine({ blocks: 1 })
    const printed = await ask()
    expect(printed.output.match(/^! /gm)).toHaveLength(5)
    const taken = await ask({ ADMIN_PRIVATE_KEY: privateKeyOf(admin) })
    expect(taken.output.match(/^✓ .*become admin$/gm)).toHaveLength(4)
    expect(taken.output).toContain(`! AddressRegistry: become owner: to be sent by ${guardian.address}`)
    for (const name of ['MerchantRegistry', 'ReviewRegistry', 'CommissionEscrow', 'SplitRouter'])
      expect(await adminOf(contracts[name]), name).toBe(admin.address)

    await ask({ ADMIN_PRIVATE_KEY: privateKeyOf(guardian) })
    const owner = {
      address: contracts.AddressRegistry,
      abi: addressRegistryAbi,
      functionName: 'owner',
    } as const
    expect(await local.client.readContract(owner)).toBe(guardian.address)
    expect(await ask({ ADMIN_PRIVATE_KEY: privateKeyOf(admin) })).toMatchObject({
      code: 0,
      output: 'nothing to accept\n',
    })
  })
})
