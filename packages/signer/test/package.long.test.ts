// What `npx @referrer/signer` runs: the package as it would be published.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { VARIABLES } from '../src/config.ts'
import { tools } from '../src/tools/index.ts'
import { startSigner } from './signer.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'))

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'referrer-signer-package-'))
  const { stdout } = await run(process.execPath, [join(ROOT, '../../scripts/release/packed.ts')])
  const { version } = await readJson(join(ROOT, 'package.json'))
  await run('tar', ['-xzf', join(stdout.trim(), `referrer-signer-${version}.tgz`)], { cwd: directory })
}, 60_000)
afterAll(() => rm(directory, { recursive: true, force: true }))

it('has every tool, and needs nothing installed beside it [MCP-02]', async () => {
  const { bin, dependencies = {} } = await readJson(join(directory, 'package/package.json'))
  expect(dependencies).toEqual({})
  const signer = await startSigner(
    { AGENT_PRIVATE_KEY: `0x${'11'.repeat(32)}` },
    { program: join(directory, 'package', bin['referrer-signer']) },
  )
  const { tools: offered } = await signer.client.listTools()
  expect(offered.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
  await signer.close()
}, 30_000)

it('ships its licence, and the notice of every package whose code the bundle contains', async () => {
  expect(await readFile(join(directory, 'package/LICENSE'), 'utf8')).toContain('MIT License')
  const notices = await readFile(join(directory, 'package/lib/THIRD_PARTY_NOTICES.txt'), 'utf8')
  const bundled = await bundledPackages()
  expect(bundled.length).toBeGreaterThan(5)
  for (const folder of bundled) {
    const { name, version, license } = await readJson(join(folder, 'package.json'))
    expect(notices).toContain(`\n\n${name} ${version}\nlicence: ${license}\n`)
  }
}, 60_000)

/** The folders of the packages, read from the source map of a build of its own, not from what the notices were made of. */
async function bundledPackages(): Promise<string[]> {
  const build = await rolldown({ input: join(ROOT, 'src/bin.ts'), platform: 'node' })
  const { output } = await build.generate({ dir: join(ROOT, 'dist'), format: 'esm', sourcemap: true })
  await build.close()
  const sources = output.flatMap((file) => (file.type === 'chunk' ? (file.map?.sources ?? []) : []))
  const folders = sources.map((source) => /((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1])
  return [...new Set(folders.flatMap((folder) => (folder ? join(ROOT, 'dist', folder) : [])))]
}

it('is described for the MCP registry as it is', async () => {
  const { name, version, packages } = await readJson(join(directory, 'package/server.json'))
  const own = await readJson(join(ROOT, 'package.json'))
  expect([name, version]).toEqual([own.mcpName, own.version])
  const [{ identifier, version: published, environmentVariables }] = packages
  expect([identifier, published]).toEqual([own.name, own.version])
  const names = environmentVariables.map((variable: { name: string }) => variable.name)
  expect(names).toEqual(Object.keys(VARIABLES))
  const secrets = environmentVariables.filter((variable: { isSecret?: boolean }) => variable.isSecret)
  expect(secrets.map((variable: { name: string }) => variable.name)).toEqual([
    'AGENT_KEYS',
    'AGENT_PRIVATE_KEY',
    'SIGNER_PASSWORD',
  ])
})
