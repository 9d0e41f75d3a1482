import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CREATE2_FACTORY } from '@referrer/contracts/deploy'
import {
  developmentAccounts,
  type LocalChain,
  privateKeyOf,
  startLocalChain,
} from '@referrer/contracts/local'
import { addressRegistryAbi, splitRouterAbi } from '@referrer/protocol/abi'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../referrer.ts'
import { shownUrl } from './deploy.ts'

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url))
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
afterAll(async () => {
  await local?.close()
  rmSync(directory, { recursive: true })
})

type Vars = Record<string, string | undefined>
interface Ended {
  code: number
  output: string
}

async function referrer(args: string[], env: Vars = {}): Promise<Ended> {
  let output = ''
  const print = (text: string) => {
    output += text
  }
  const full = { RPC_URL: local.rpcUrl, DEPLOYER_PRIVATE_KEY: key, ...env }
  const code = await runCommand(args, { env: full, print }).catch((error: Error) => {
    output += error.message
    return 1
  })
  return { code, output }
}
/** What is compiled is compared with the sources by the tests of the contracts. */
const deploy = (args: string[], env?: Vars) => referrer(['deploy', '--no-build-check', ...args], env)

const asProcess = (args: string[], env: Vars) =>
  new Promise<Ended>((resolve) => {
    execFile(
      process.execPath,
      [MAIN, ...args],
      { env: { ...process.env, ...env } },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    )
  })
const sent = () => local.client.getTransactionCount({ address: deployer.address })

describe('referrer deploy', () => {
  it('shows the whole plan on a dry run, without a key, and sends and writes nothing', async () => {
    const env = { RPC_URL: local.rpcUrl, DEPLOYER_ADDRESS: deployer.address }
    const { code, output } = await asProcess(
      ['deploy', config, '--book', book, '--dry-run', '--no-build-check'],
      env,
    )
    expect(code, output).toBe(0)
    expect(output).toMatch(/^· deploy SplitRouter at 0x/m)
    expect(output).toMatch(/\d+ transactions left, about \d+ gas/)
    expect(await sent()).toBe(0)
    expect(existsSync(book)).toBe(false)
  })

  it('deploys, writes the address book, and does nothing the second time', async () => {
    const first = await deploy([config, '--book', book])
    expect(first.code).toBe(0)
    const { chainId, contracts } = JSON.parse(readFileSync(book, 'utf8'))
    expect(chainId).toBe(local.chain.id)
    expect(await local.client.getCode({ address: contracts.SplitRouter })).toBeDefined()
    expect(first.output).toContain(`\nDEPLOYMENTS=${book}\nRPC_URLS_${chainId}=${local.rpcUrl}\n`)
    const before = await sent()
    const second = await deploy([config, '--book', book])
    expect(second).toMatchObject({ code: 0, output: expect.stringContaining('nothing left to do') })
    expect(await sent()).toBe(before)
  })

  it('never prints the key', async () => {
    const { output } = await deploy([config, '--book', book])
    expect(output).not.toContain(key.slice(2))
  })

  it.each<[string, string[], Vars, string]>([
    ['no file', ['deploy'], {}, 'no deployment is named'],
    ['two files', ['deploy', config, 'other.json'], {}, 'deploy takes one file, not also other.json'],
    ['an unknown option', ['accept', config, '--no-build-check'], {}, "Unknown option '--no-build-check'"],
    [
      'nothing deployed that could be accepted',
      ['accept', config, '--book', '/nowhere.json'],
      {},
      'there is no address book at /nowhere.json: deploy first',
    ],
    ['a missing file', ['deploy', '/nowhere.json'], {}, '/nowhere.json: '],
    ['no RPC endpoint', ['deploy', config], { RPC_URL: undefined }, 'RPC_URL: not set; expected the http'],
    [
      'a dead RPC endpoint',
      ['deploy', config],
      { RPC_URL: 'http://127.0.0.1:9/v2/very-secret' },
      'RPC_URL does not answer',
    ],
    [
      'no key',
      ['deploy', config, '--no-build-check'],
      { DEPLOYER_PRIVATE_KEY: undefined },
      'set DEPLOYER_PRIVATE_KEY',
    ],
    [
      'several mistakes at once',
      ['deploy', '/nowhere.json'],
      { DEPLOYER_PRIVATE_KEY: '0x12', RPC_URL: 'ftp://very-secret' },
      'DEPLOYER_PRIVATE_KEY: expected a private key: 0x and 64 hex digits\n  /nowhere.json: ',
    ],
  ])('says what to do about %s', async (_, args, env, message) => {
    const { code, output } = await referrer(args, env)
    expect(code).toBe(1)
    expect(output).toContain(message)
    expect(output).not.toContain('very-secret')
  })

  it.each([
    ['https://sepolia.base.org', 'https://sepolia.base.org'],
    ['http://127.0.0.1:8545/', 'http://127.0.0.1:8545'],
    ['https://base.example/v2/abcdef', '<the value of RPC_URL>'],
    ['https://base.example/?key=abcdef', '<the value of RPC_URL>'],
    ['https://user:abcdef@base.example', '<the value of RPC_URL>'],
    ['https://0123456789abcdef0123456789abcdef.base.example', '<the value of RPC_URL>'],
  ])('tells the endpoint %s only if it holds no key', (url, shown) => {
    expect(shownUrl(url)).toBe(shown)
  })

  it('refuses an endpoint that serves another chain than the config names', async () => {
    const other = join(directory, 'other.json')
    writeFileSync(other, JSON.stringify({ chainId: 7, sandbox: true, treasury: treasury.address }))
    const { code, output } = await deploy([other])
    expect(code).toBe(1)
    expect(output).toContain(`RPC_URL serves chain ${local.chain.id}, the config is for chain 7`)
  })
})

describe('referrer deploy factory', () => {
  it('brings the CREATE2 factory to a chain without it, once, and a deployment works from there', async () => {
    const bare = await startLocalChain({ port: 0 })
    try {
      const env = { RPC_URL: bare.rpcUrl }
      const factory = { address: CREATE2_FACTORY }
      const code = await bare.client.getCode(factory)
      await bare.client.setCode({ ...factory, bytecode: '0x' })
      const onto = [config, '--book', join(directory, 'bare.json')]
      const without = await deploy(onto, env)
      expect(without).toMatchObject({ code: 1, output: expect.stringContaining('the command "factory"') })

      const first = await deploy(['factory', config], env)
      expect(first).toMatchObject({ code: 0, output: expect.stringContaining('sending 0.01 ETH') })
      expect(await bare.client.getCode(factory)).toBe(code)
      const again = await deploy(['factory', config], env)
      expect(again).toMatchObject({ code: 0, output: expect.stringContaining('already') })
      expect(await bare.client.getTransactionCount({ address: deployer.address })).toBe(1)
      expect(await deploy(onto, env)).toMatchObject({ code: 0 })
    } finally {
      await bare.close()
    }
  })
})

describe('referrer accept', () => {
  it('takes over what was handed to the key once its time has come, and prints what others have to accept', async () => {
    const own = join(directory, 'own.json')
    const ownBook = join(directory, 'own-book.json')
    const parties = { treasury: treasury.address, admin: admin.address, registryOwner: guardian.address }
    writeFileSync(
      own,
      JSON.stringify({ chainId: local.chain.id, sandbox: true, adminDelay: 3_600, ...parties }),
    )
    expect(await deploy([own, '--book', ownBook])).toMatchObject({ code: 0 })
    const { contracts } = JSON.parse(readFileSync(ownBook, 'utf8'))
    const ask = (env: Vars = {}) =>
      referrer(['accept', own, '--book', ownBook], { DEPLOYER_PRIVATE_KEY: undefined, ...env })
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
