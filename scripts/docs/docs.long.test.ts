// Runs the documents that newcomers follow, as they are written, and compares what is printed with what they say.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readDocument } from './blocks.ts'
import { missingLine } from './compare.ts'
import { openShell, PATIENCE_MS, type Printed } from './shell.ts'

const root = join(import.meta.dirname, '../..')
/** The documents of a line follow each other in one sandbox; what others print is of a new one. */
const DOCUMENTS = [['README.md', 'docs/selling.md'], ['docs/quickstart.md'], ['docs/agents.md']]
/** Far from the ports of a sandbox that somebody runs, and below those that the system gives to clients. */
const FIRST_OFFSET = 21_000

for (const [at, paths] of DOCUMENTS.entries()) {
  describe(paths.join(', then '), () => {
    const offset = FIRST_OFFSET + 100 * at
    /** What a reader of the first document need not start again for the next: by the command. */
    const running = new Map<string, Printed>()
    const ends: (() => Promise<void>)[] = []
    afterAll(async () => {
      for (const end of ends.toReversed()) await end()
    }, 60_000)
    for (const path of paths) describe(path, () => follow(path, { offset, running, ends }))
  })
}

interface Place {
  offset: number
  running: Map<string, Printed>
  ends: (() => Promise<void>)[]
}

/** What npm has fetched for the project serves here, too. What npx has installed does not: our packages may have changed since. */
function npmCache(home: string): string {
  const shared = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
  const cache = join(home, '.npm')
  mkdirSync(join(shared, '_cacache'), { recursive: true })
  mkdirSync(cache)
  symlinkSync(join(shared, '_cacache'), join(cache, '_cacache'))
  return cache
}

function follow(path: string, { offset, running, ends }: Place): void {
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
    // A lost connection is tried again after a minute, not after five.
    npm_config_fetch_timeout: '60000',
    npm_config_fetch_retries: '5',
    npm_config_cache: npmCache(home),
  })
  const written: string[] = []
  ends.push(async () => {
    await shell.close()
    for (const file of [home, ...written]) rmSync(file, { recursive: true, force: true })
  })
  let last: Printed | undefined

  async function start(command: string, until: string): Promise<Printed> {
    const known = running.get(command)
    if (known) return known
    const printed = await shell.start(command, until)
    running.set(command, printed)
    if (command.startsWith('npm start')) await allEmbedded(here.there('http://127.0.0.1:8080'))
    return printed
  }

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
        it(`line ${block.line}: ${text}`, { timeout: 2 * PATIENCE_MS }, async () => {
          const command = here.there(text)
          last = until === undefined ? await shell.run(command) : await start(command, until)
          // A question that the model does not embed within 150 ms is answered by its words; asked again, its vector is there.
          for (let tries = 1; tries < 5 && command.includes(SEARCH) && prints; tries += 1) {
            if (missingLine(prints, last.lines.filter(isOfTheCommand).map(here.back)) === undefined) break
            last = await shell.run(command)
          }
          const printed = last.lines.filter(isOfTheCommand).map(here.back)
          expect(last.code, printed.join('\n')).toBe(0)
          if (prints) expect(missingLine(prints, printed), printed.join('\n')).toBeUndefined()
        })
      }
    }
  }
}

const SEARCH = 'sandbox/examples/discover.ts'

/** Until the last text has its vector, what is found changes: a reader takes longer to type than that. */
const allEmbedded = (market: string): Promise<void> =>
  expect
    .poll(async () => (await fetch(`${market}/metrics`)).text(), { timeout: 120_000, interval: 500 })
    .toMatch(/^referrer_texts_to_embed\{[^}]*\} 0$/m)

/** What npm says around a script is not the script's. */
const isOfTheCommand = (line: string) => !/^(?:> |npm (?:warn|notice))/.test(line)

/** The ports and folders of a document, and those of the sandbox that the test runs. */
function placesOf(offset: number) {
  const PORTS = [8080, 8081, 8083, 8084, 8085, 8086, 8087, 8545, 8546]
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
