// The packages as strangers get them: built, packed, installed by plain npm into an empty project, compiled against and run on each Node.
// This needs the registry of npm, or its cache.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npm } from '../npm.mjs'
import { type Runtime, runtimes } from './nodes.ts'
import { PUBLISHED, readManifest, root } from './packages.ts'
import { packedPackages } from './packed.ts'
import type { Resolutions } from './resolutions.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'referrer-install-'))
const project = join(folder, 'project')
const manifests = PUBLISHED.map((name) => readManifest(join(root, 'packages', name)))
let packed: string
const tarballOf = ({ name, version }: { name: string; version: string }) =>
  join(packed, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)

const STRICT = ['--strict', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false', '--target', 'es2022']

const nodes = await runtimes()
const [oldest] = nodes as [Runtime]

/** Compilers and npm take minutes beside other tests. */
const PATIENCE_MS = 600_000

beforeAll(async () => {
  packed = await packedPackages()
}, PATIENCE_MS)
beforeAll(async () => {
  const ours = Object.fromEntries(manifests.map((manifest) => [manifest.name, `file:${tarballOf(manifest)}`]))
  const others = { '@types/node': '24.10.1', '@x402/core': '2.27.0', viem: '2.57.1' }
  const manifest = { name: 'a-project', private: true, type: 'module', dependencies: { ...ours, ...others } }
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  cpSync(join(import.meta.dirname, 'consumer'), project, { recursive: true })
  // Refuses whatever says that it does not run on the oldest Node. The only script would compile an optional addon.
  const options = ['--engine-strict', '--ignore-scripts']
  await npm(oldest.path, 'Installing the packages', project, ['install', ...options])
}, PATIENCE_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the compiler says. Threads that check the same types each for itself would cost more than they save here. */
async function compile(...options: string[]): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '--singleThreaded', ...options], {
    cwd: project,
  }).catch((failure: { stdout: string }) => failure)
  return stdout
}

describe.each(manifests)('$name', (manifest) => {
  it('has nothing that publint minds', async () => {
    const tarball = new Uint8Array(readFileSync(tarballOf(manifest))).buffer
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  })

  it('has types for everything that it exports', async () => {
    const program = join(import.meta.dirname, 'resolutions.ts')
    const { stdout } = await run(process.execPath, [program, tarballOf(manifest)])
    const wanted: Resolutions = { entrypoints: Object.keys(manifest.exports ?? {}), problems: [] }
    expect(JSON.parse(stdout)).toEqual(wanted)
  })

  it('ships its licence, its manual and no sources but those in its maps', () => {
    const files = readdirSync(join(project, 'node_modules', manifest.name), { recursive: true }) as string[]
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', ...manifest.files]))
    expect(files.filter((file) => /(?<!\.d)\.ts$|\.tsbuildinfo$/.test(file))).toEqual([])
  })
})

it('a program for Node can be compiled', { timeout: PATIENCE_MS }, async () => {
  const options = ['--module', 'nodenext', '--types', 'node', '--outDir', 'out']
  expect(await compile('node.ts', ...STRICT, ...options)).toBe('')
})

it('a page that a bundler makes can be compiled', { timeout: PATIENCE_MS }, async () => {
  const options = ['--module', 'esnext', '--moduleResolution', 'bundler', '--types', '', '--noEmit']
  expect(await compile('web.ts', ...STRICT, ...options)).toBe('')
})

const DOORS = manifests.flatMap(({ name, exports = {} }) =>
  Object.keys(exports).map((path) => join(name, path)),
)
const COMMANDS = manifests.flatMap(({ bin = {} }) => Object.keys(bin))

describe.each(nodes)('Node $version', ({ path }) => {
  const PATH = [dirname(path), process.env.PATH].join(delimiter)

  it('finds behind every door what the sources export', async () => {
    const code = `
      const names = {}
      for (const door of ${JSON.stringify(DOORS)}) names[door] = Object.keys(await import(door))
      console.log(JSON.stringify(names))`
    const { stdout } = await run(path, ['--input-type=module', '--eval', code], { cwd: project })
    const sources = await Promise.all(DOORS.map(async (door) => [door, Object.keys(await import(door))]))
    expect(JSON.parse(stdout)).toEqual(Object.fromEntries(sources))
  })

  it('runs the program', async () => {
    const { stdout } = await run(path, [join(project, 'out/node.js')])
    expect(JSON.parse(stdout)).toEqual({
      signer: true,
      recovery: expect.stringMatching(/^(?:native|wasm)$/),
      money: '1.5',
      abi: 'function',
      endpoint: 405,
      hono: 405,
      next: 405,
      node: 405,
      express: 405,
      fastify: 'function',
      x402: 'function',
      chain: true,
      keystore: true,
    })
  })

  it.each(COMMANDS)('runs the command %s', async (command) => {
    const { stdout } = await run(join(project, 'node_modules/.bin', command), ['--help'], { env: { PATH } })
    expect(stdout.trim()).not.toBe('')
  })

  it('runs the signer for a host that speaks MCP', async () => {
    const client = new Client({ name: 'test', version: '1' })
    const env = { PATH, AGENT_PRIVATE_KEY: `0x${'11'.repeat(32)}`, SIGNER_STATE_DIR: join(folder, 'state') }
    const command = join(project, 'node_modules/.bin/referrer-signer')
    await client.connect(new StdioClientTransport({ command, args: [], env, stderr: 'ignore' }))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('pay_for_product')
    await client.close()
  })
})

it('a bundle for browsers holds nothing of Node, and all of the rest', async () => {
  const build = await rolldown({
    input: join(project, 'web.ts'),
    platform: 'browser',
    onLog: (_level, { message }) => {
      throw new Error(message)
    },
  })
  const { output } = await build.generate({ format: 'esm' })
  await build.close()
  const files = output.map(({ fileName }) => fileName)
  const imported = output.flatMap((file) =>
    file.type === 'chunk' ? [...file.imports, ...file.dynamicImports] : [],
  )
  expect(imported.filter((name) => !files.includes(name))).toEqual([])
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  expect(
    modules.filter((id) => /\/candidates(?:\.node)?\.js$/.test(id)).map((id) => id.split('/').at(-1)),
  ).toEqual(['candidates.js'])
})

it('the sources use nothing that the oldest Node lacks, and their types can be named by others', {
  timeout: PATIENCE_MS,
}, async () => {
  const known = join(root, 'node_modules/.cache/referrer-release.tsbuildinfo')
  const options = ['--incremental', '--tsBuildInfoFile', known]
  expect(await compile('-p', join(root, 'packages/tsconfig.release.json'), ...options)).toBe('')
})
