import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startTestFacilitator, type TestFacilitator } from './harness.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const children: ReturnType<typeof spawn>[] = []
let m: TestFacilitator

beforeAll(async () => {
  m = await startTestFacilitator({ buyers: 1 })
})
afterAll(() => m.close())
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function run(env: Record<string, string>, ...args: string[]) {
  const { NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  const said = { out: '', err: '' }
  child.stdout.on('data', (text) => {
    said.out += text
  })
  child.stderr.on('data', (text) => {
    said.err += text
  })
  const ended = once(child, 'close').then(([code]) => ({ code, ...said }))
  return { child, said, ended }
}

describe('the program', () => {
  test('explains its environment', async () => {
    const { code, out } = await run({}, '--help').ended
    expect(code).toBe(0)
    expect(out).toMatch(/^The Referrer facilitator/)
    expect(out).toContain('RELAYER_PRIVATE_KEYS')
    expect(out).toContain('(default 8081)')
  })

  test('names everything that is wrong with it, and ends', async () => {
    const { code, out, err } = await run({ PORT: 'x' }).ended
    expect([code, out]).toEqual([1, ''])
    expect(err.split('\n')).toEqual([
      'The configuration cannot be used:',
      '  PORT: expected a whole number from 0 to 65535',
      expect.stringMatching(/^ {2}RELAYER_PRIVATE_KEYS: not set; expected private keys/),
      expect.stringMatching(/^ {2}CHAINS: no chain is configured/),
      '',
    ])
  })

  test('settles until it is told to stop, and ends by itself', async () => {
    const { child, said, ended } = run(m.env)
    await expect.poll(() => said.out, { timeout: 30_000 }).toMatch(/ready on \S+, chains 31337\n/)
    const url = /ready on (\S+),/.exec(said.out)?.[1]
    const [buyer] = m.buyers
    if (!buyer) throw new Error('the test has a buyer')
    const body = JSON.stringify(await m.payload(buyer))
    const answer = await fetch(`${url}/settle`, { method: 'POST', body })
    expect(await answer.json()).toMatchObject({ success: true, payer: buyer.address })
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0, err: '' })
  })
})
