// Runs the documents that newcomers follow, as they are written, and compares what is printed with what they say.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readDocument } from './blocks.ts'
import { missingLine } from './compare.ts'
import { openShell, type Printed } from './shell.ts'

const root = join(import.meta.dirname, '../..')
const DOCUMENTS = ['README.md', 'docs/quickstart.md', 'docs/selling.md', 'docs/agents.md']
/** Far from the ports of a sandbox that somebody runs, and below those that the system gives to clients. */
const FIRST_OFFSET = 21_000

describe.each(DOCUMENTS.map((path, at) => ({ path, offset: FIRST_OFFSET + 100 * at })))(
  '$path',
  ({ path, offset }) => {
    const { blocks, skipped } = readDocument(readFileSync(join(root, path), 'utf8'))
    const here = placesOf(offset)
    const home = mkdtempSync(join(tmpdir(), 'referrer-docs-'))
    const shell = openShell(root, {
      ...process.env,
      PORT_OFFSET: String(offset),
      REFERRER_URL: here.there('http://127.0.0.1:8080'),
      REFERRER_RPC_URL: here.there('http://127.0.0.1:8545'),
      HOME: home,
      NO_COLOR: '1',
      // npm asks whether it may fetch what it runs.
      npm_config_yes: 'true',
      // Nobody reads what npm would ask the registry for beside the packages.
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_prefer_offline: 'true',
      // What npm has fetched for the project serves here, too.
      npm_config_cache: execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim(),
    })
    const written: string[] = []
    afterAll(async () => {
      await shell.close()
      for (const file of [home, ...written]) rmSync(file, { recursive: true, force: true })
    }, 60_000)
    let last: Printed | undefined

    it('says why a block is not run', () => {
      for (const { reason } of skipped) expect(reason).toMatch(/\w{3}/)
      expect(blocks.length).toBeGreaterThan(0)
    })

    for (const block of blocks) {
      if (block.kind === 'file') {
        it(`line ${block.line}: ${block.name}`, async () => {
          const { lines } = await shell.run('pwd')
          const file = join(lines[0] as string, block.name)
          written.push(file)
          writeFileSync(file, here.there(block.text), { flag: 'wx' })
        })
      } else if (block.kind === 'output') {
        it(`line ${block.line}: what the command above prints`, () => {
          const printed = last?.lines.filter(isOfTheCommand).map(here.back) ?? []
          expect(missingLine(block.lines, printed, { isExcerpt: true }), printed.join('\n')).toBeUndefined()
        })
      } else {
        for (const { text, prints, until } of block.commands) {
          it(`line ${block.line}: ${text}`, { timeout: 180_000 }, async () => {
            const command = here.there(text)
            last = until === undefined ? await shell.run(command) : await shell.start(command, until)
            const printed = last.lines.filter(isOfTheCommand).map(here.back)
            expect(last.code, printed.join('\n')).toBe(0)
            if (prints) expect(missingLine(prints, printed), printed.join('\n')).toBeUndefined()
          })
        }
      }
    }
  },
)

/** What npm says around a script is not the script's. */
const isOfTheCommand = (line: string) => !/^(?:> |npm (?:warn|notice))/.test(line)

/** The ports and folders of a document, and those of the sandbox that the test runs. */
function placesOf(offset: number) {
  const PORTS = [8080, 8081, 8083, 8084, 8085, 8086, 8545]
  const pairs = [
    ...PORTS.map((port) => [`127.0.0.1:${port}`, `127.0.0.1:${port + offset}`] as const),
    ['.sandbox/', `.sandbox-${offset}/`] as const,
    // What is printed for the sandbox of a document has no offset in it.
    ['node scripts/run.mjs', `PORT_OFFSET=${offset} node scripts/run.mjs`] as const,
  ]
  return {
    there: (text: string) =>
      pairs.slice(0, -1).reduce((now, [documented, real]) => now.replaceAll(documented, real), text),
    back: (text: string) => pairs.reduce((now, [documented, real]) => now.replaceAll(real, documented), text),
  }
}
