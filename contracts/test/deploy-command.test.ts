import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { developmentAccounts, type LocalChain, privateKeyOf, startLocalChain } from '../local/index.ts'

const MAIN = fileURLToPath(new URL('../deploy/main.ts', import.meta.url))
const { deployer, treasury, settler } = developmentAccounts()
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

function deploy(args: string[], env: Record<string, string | undefined> = {}) {
  const full = { ...process.env, RPC_URL: local.rpcUrl, DEPLOYER_PRIVATE_KEY: key, ...env }
  return new Promise<{ code: number; output: string }>((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: full }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    )
  })
}
const sent = () => local.client.getTransactionCount({ address: deployer.address })

describe('npm run deploy', () => {
  it('shows the whole plan on a dry run, without a key, and sends and writes nothing', async () => {
    const env = { DEPLOYER_PRIVATE_KEY: undefined, DEPLOYER_ADDRESS: deployer.address }
    const { code, output } = await deploy(['--config', config, '--book', book, '--dry-run'], env)
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
