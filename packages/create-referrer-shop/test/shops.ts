// Shops in folders of their own, beside a sandbox that runs as its users start it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundled } from '@referrer/database/testing'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { type Address, createPublicClient, http } from 'viem'
import { startTestSandbox, type TestSandbox } from '../../../sandbox/test/sandbox.ts'
import { run } from '../src/run.ts'

export { PATIENCE_MS } from '../../../sandbox/test/sandbox.ts'

/** The packages of this repository, in place of what npm would install. */
const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const COMMANDS = new URL('../../merchant/src/cli.ts', import.meta.url)

export interface Shops {
  sandbox: TestSandbox
  folder: string
  /** What a shop of this sandbox is made with. */
  flags: string[]
  create(args: string[], env?: Record<string, string>): Promise<{ code: number; out: string; err: string }>
  directory(name: string): string
  install(name: string): void
  project(name: string): Project
  command(name: string, args: string[]): Promise<{ code: number; out: string; err: string }>
  /** Runs the shop until the returned function is called. */
  serve(name: string, args: string[]): Promise<() => Promise<void>>
  identitiesOf(owner: Address): Promise<bigint>
  transactionsOf(owner: Address): Promise<number>
  end(): Promise<void>
}

export interface Project {
  merchantId: number
  products: Record<string, { id: string; endpoint?: string }>
}

export async function startShops(): Promise<Shops> {
  const sandbox = await startTestSandbox()
  const { baseUrl, rpcUrl, contracts } = sandbox.state
  const folder = mkdtempSync(join(tmpdir(), 'referrer-shops-'))
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 })
  const directory = (name: string) => join(folder, name)
  return {
    sandbox,
    folder,
    flags: ['--market', baseUrl, '--rpc', rpcUrl, '--yes'],
    directory,
    // The documents' shop is at 3000, and their test may run at the same time.
    async create(args, given = {}) {
      const env = { PORT: '3200', ...given }
      const said: string[] = []
      const complained: string[] = []
      const output = { out: (text: string) => said.push(text), err: (text: string) => complained.push(text) }
      const code = await run(args, { directory: folder, env, isInteractive: false, output })
      // On a busy machine it says what it waits for.
      const err = complained.filter((line) => !line.startsWith('…')).join('\n')
      return { code, out: said.join('\n'), err }
    },
    install: (name) => symlinkSync(MODULES, join(directory(name), 'node_modules')),
    project: (name) => JSON.parse(readFileSync(join(directory(name), 'referrer.json'), 'utf8')),
    async command(name, args) {
      const { child, output } = runIn(directory(name), [await bundled(COMMANDS), ...args])
      const [code] = await once(child, 'close')
      return { code, ...output }
    },
    async serve(name, args) {
      const { child, output } = runIn(directory(name), args)
      const ended = once(child, 'close')
      while (!output.out.includes('selling at')) {
        if (child.exitCode !== null) throw new Error(`the shop ended: ${output.err}`)
        await Promise.race([once(child.stdout, 'data'), ended])
      }
      return async () => {
        child.kill()
        await ended
      }
    },
    identitiesOf: (owner) =>
      client.readContract({
        address: contracts.IdentityRegistry,
        abi: identityRegistryAbi,
        functionName: 'balanceOf',
        args: [owner],
      }),
    transactionsOf: (address) => client.getTransactionCount({ address }),
    async end() {
      await sandbox.end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function runIn(cwd: string, args: string[]) {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output.out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output.err += chunk
  })
  return { child, output }
}
