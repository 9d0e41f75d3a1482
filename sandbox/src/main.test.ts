import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { createPublicClient, http, keccak256, toBytes } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPorts, requireFree } from './ports.ts'
import { databaseDirectory, type SandboxState } from './state.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'referrer-sandbox-'))
const statePath = join(directory, 'state.json')

function start(env: Record<string, string>, args: string[] = []) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, SANDBOX_DIR: directory, ...env },
  })
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output.text += chunk
    })
  }
  return { child, output, ended: once(child, 'exit') }
}

async function until(condition: () => boolean, child: ChildProcess, output: { text: string }) {
  while (!condition()) {
    if (child.exitCode !== null) throw new Error(`the sandbox ended: ${output.text}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** One at which all ports are free. */
async function freeOffset(): Promise<string> {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    await new Promise((resolve) => server.close(resolve))
    if (!address || typeof address === 'string') throw new Error('no port')
    const offset = String(address.port - 8545)
    const isFree = await requireFree(readPorts({ PORT_OFFSET: offset })).then(
      () => true,
      () => false,
    )
    if (isFree) return offset
  }
}

const databaseOf = (offset: string) =>
  databaseDirectory(statePath, readPorts({ PORT_OFFSET: offset }).service)

describe('npm start', () => {
  let sandbox: ReturnType<typeof start>
  let state: SandboxState
  let offset: string

  beforeAll(async () => {
    offset = await freeOffset()
    sandbox = start({ PORT_OFFSET: offset })
    await until(() => sandbox.output.text.includes('sandbox ready'), sandbox.child, sandbox.output)
    state = JSON.parse(readFileSync(statePath, 'utf8'))
  }, 120_000)
  afterAll(async () => {
    sandbox.child.kill('SIGINT')
    await sandbox.ended
    rmSync(directory, { recursive: true })
  })

  const account = (role: string) => {
    const found = state.accounts.find((entry) => entry.role === role)
    if (!found) throw new Error(`no account plays ${role}`)
    return found
  }
  const client = () => createPublicClient({ transport: http(state.rpcUrl) })

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
    const [ready, metrics] = await Promise.all(
      ['/readyz', '/metrics'].map(async (path) => {
        const response = await fetch(`${state.baseUrl}${path}`)
        return { status: response.status, text: await response.text() }
      }),
    )
    expect(ready?.status).toBe(200)
    const head = await client().getBlockNumber()
    expect(metrics?.text).toContain(`referrer_chain_indexed_block{chain="${state.chainId}"} ${head}\n`)
  })

  it('has a test network for its default chain [CONV-02]', async () => {
    const manifest = await (await fetch(`${state.baseUrl}/.well-known/referrer-agent`)).json()
    expect(manifest.chains[0].chainId).toBe(31_337)
    const first = await (await fetch(`${state.baseUrl}/v1/review?chain_id=31337`)).text()
    expect(await (await fetch(`${state.baseUrl}/v1/review`)).text()).toBe(first)
  })

  it('says in one line what to do when its port is taken, and leaves the running one alone', async () => {
    const second = start({ PORT_OFFSET: offset })
    const [code] = await second.ended
    expect(code).toBe(1)
    expect(second.output.text.trim()).toMatch(/^port \d+ \(chain\) is in use: .*PORT_OFFSET=100 npm start$/)
    expect(existsSync(statePath)).toBe(true)
  })

  it('ends everything on Ctrl-C while it starts, and leaves the running one alone', async () => {
    const other = await freeOffset()
    const second = start({ PORT_OFFSET: other })
    await until(() => second.output.text.includes('starting the service'), second.child, second.output)
    second.child.kill('SIGINT')
    expect(await second.ended).toEqual([0, null])
    expect(second.output.text).not.toContain('sandbox ready')
    expect(existsSync(statePath)).toBe(false)
    expect(existsSync(databaseOf(other))).toBe(false)
    const { workers } = await (await fetch(`${state.baseUrl}/readyz`)).json()
    expect(workers).toEqual(workers.map((worker: object) => ({ ...worker, state: 'running', restarts: 0 })))
  })

  it('ends everything on Ctrl-C and takes its state file and its database along', async () => {
    expect(existsSync(databaseOf(offset))).toBe(true)
    sandbox.child.kill('SIGINT')
    expect(await sandbox.ended).toEqual([0, null])
    expect(existsSync(statePath)).toBe(false)
    expect(existsSync(databaseOf(offset))).toBe(false)
    await expect(client().getChainId()).rejects.toThrow()
    await expect(fetch(state.baseUrl)).rejects.toThrow()
  })
})

describe('npm start, asked oddly', () => {
  it('explains itself with --help', async () => {
    const { output, ended } = start({}, ['--help'])
    expect((await ended)[0]).toBe(0)
    expect(output.text).toContain('PORT_OFFSET')
  })

  it('refuses a PORT_OFFSET that is no number', async () => {
    const { output, ended } = start({ PORT_OFFSET: 'far' })
    expect((await ended)[0]).toBe(1)
    expect(output.text.trim()).toBe('PORT_OFFSET must be a whole number from 0 to 56000, not "far"')
  })
})
