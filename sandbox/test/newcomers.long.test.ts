// What somebody sees who runs an example first and reads later.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleCommand, statePath } from '../src/state.ts'
import { freeOffset, PATIENCE_MS, run, startTestSandbox, type TestSandbox } from './sandbox.ts'

const EXAMPLES = ['discover', 'buy', 'review', 'later', 'agent', 'owner']
const NONE =
  'no sandbox runs: start one with npm start, wait for "sandbox ready", and try again with the same PORT_OFFSET'

async function example(name: string, PORT_OFFSET: string, args: string[] = []) {
  const file = fileURLToPath(new URL(`../examples/${name}.ts`, import.meta.url))
  const { output, ended } = run(file, { PORT_OFFSET }, args)
  return { code: (await ended)[0], said: output.text.trim() }
}

describe('an example', () => {
  it('says in one line that no sandbox runs', async () => {
    const offset = await freeOffset()
    const all = await Promise.all(EXAMPLES.map((name) => example(name, offset)))
    expect(all).toEqual(EXAMPLES.map(() => ({ code: 1, said: NONE })))
  })

  it('says the same when a sandbox was killed and left its state behind', async () => {
    const offset = await freeOffset()
    const path = statePath({ PORT_OFFSET: offset })
    mkdirSync(dirname(path))
    try {
      writeFileSync(path, JSON.stringify({ baseUrl: 'http://127.0.0.1:3', accounts: [] }))
      expect(await example('discover', offset)).toEqual({ code: 1, said: NONE })
    } finally {
      rmSync(dirname(path), { recursive: true })
    }
  })
})

it('commands name the directory where the sandbox has one of its own, and nothing where it is the usual one', () => {
  const command = 'node scripts/run.mjs sandbox/examples/buy.ts'
  expect(exampleCommand('buy', {})).toBe(command)
  expect(exampleCommand('buy', { PORT_OFFSET: '0' })).toBe(command)
  expect(exampleCommand('buy', { PORT_OFFSET: '100', SANDBOX_DIR: '/my box' })).toBe(
    `SANDBOX_DIR='/my box' ${command}`,
  )
})

it('each PORT_OFFSET has a directory of its own, and no offset the usual one', () => {
  expect(statePath({})).toMatch(/\.sandbox[/\\]state\.json$/)
  expect(statePath({ PORT_OFFSET: '0' })).toBe(statePath({}))
  expect(statePath({ PORT_OFFSET: '100' })).toMatch(/\.sandbox-100[/\\]state\.json$/)
  expect(statePath({ PORT_OFFSET: '100', SANDBOX_DIR: '/mine' })).toBe('/mine/state.json')
})

describe('a sandbox beside others', () => {
  let sandbox: TestSandbox
  beforeAll(async () => {
    sandbox = await startTestSandbox()
  }, PATIENCE_MS)
  afterAll(() => sandbox?.end())

  it('prints commands that find it', () => {
    const shown = [...sandbox.output.text.matchAll(/^ {2}(?:find|buy|then): +(.+)$/gm)].map(
      ([, command]) => command,
    )
    const env = { PORT_OFFSET: sandbox.offset }
    expect(shown).toEqual(['discover', 'buy', 'review'].map((name) => exampleCommand(name, env)))
    expect(shown[1]).toBe(`PORT_OFFSET=${sandbox.offset} node scripts/run.mjs sandbox/examples/buy.ts`)
  })

  it('has examples that say in one line what is wrong with what they were given', async () => {
    const { baseUrl } = sandbox.state
    const all = await Promise.all([
      example('buy', sandbox.offset, ['newest']),
      example('buy', sandbox.offset, [`${baseUrl}/r/abc`]),
      example('later', sandbox.offset, ['soon']),
      example('review', sandbox.offset),
      example('buy', 'many'),
    ])
    expect(all).toEqual(
      [
        'newest is no link: copy the ref_link of a review',
        'the link leads nowhere: it is not one of our links, or it was changed on the way: copy the whole link again',
        'how many days? A number above 0, or nothing for 60',
        'there is nothing to review: buy something first',
        'PORT_OFFSET must be a whole number from 0 to 56000, not "many"',
      ].map((said) => ({ code: 1, said })),
    )
  })

  it('serves the example of an agent again and again, also where its own reviews are among those that it finds', {
    timeout: PATIENCE_MS,
  }, async () => {
    for (const time of [1, 2, 3]) {
      const { code, said } = await example('agent', sandbox.offset)
      expect([time, code, said]).toEqual([time, 0, expect.stringContaining('cashback of')])
      expect(said).toMatch(/^cast_review_votes +1 vote/m)
    }
  })
})
