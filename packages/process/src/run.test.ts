import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { DatabaseError } from '@referrer/database'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ConfigError } from './environment.ts'
import { failStart } from './run.ts'

const PROGRAM = fileURLToPath(new URL('run.fixture.ts', import.meta.url))
const children: ReturnType<typeof spawn>[] = []

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.length = 0
  vi.restoreAllMocks()
})

function run(...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let out = ''
  let err = ''
  child.stdout.on('data', (text) => {
    out += text
  })
  child.stderr.on('data', (text) => {
    err += text
  })
  const exited = once(child, 'close').then(([code]) => ({ code, words: out.trim().split('\n'), err }))
  const says = (word: string) => expect.poll(() => out, { timeout: 20_000 }).toContain(`${word}\n`)
  return { child, exited, says }
}

describe('a program that runs until a signal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('stops at %s and exits with 0', async (signal) => {
    const { child, exited, says } = run()
    await says('started')
    child.kill(signal)
    expect(await exited).toEqual({ code: 0, words: ['starting', 'started', 'stopping'], err: '' })
  })

  it('exits with 1 when something did not end', async () => {
    const { child, exited, says } = run('starts', 'gets stuck')
    await says('started')
    child.kill('SIGTERM')
    expect(await exited).toMatchObject({ code: 1 })
  })

  it('does not wait any longer at the second signal', async () => {
    const { child, exited, says } = run('starts', 'hangs')
    await says('started')
    child.kill('SIGTERM')
    await says('stopping')
    child.kill('SIGINT')
    expect(await exited).toMatchObject({ code: 130 })
  })

  it('finishes its start before it stops', async () => {
    const { child, exited, says } = run('starts slowly')
    await says('starting')
    child.kill('SIGTERM')
    const { code, words } = await exited
    expect([code, words.sort()]).toEqual([0, ['started', 'starting', 'stopping']])
  })

  it('says what kept it from starting, and exits with 1', async () => {
    expect(await run('fails').exited).toMatchObject({ code: 1, err: expect.stringContaining('no luck') })
  })
})

describe('a start that fails', () => {
  function told(error: unknown): string {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('exited')
    })
    expect(() => failStart(error)).toThrow('exited')
    expect(exit).toHaveBeenCalledWith(1)
    return String(write.mock.calls[0]?.[0])
  }

  it.each([
    [
      'a bad configuration',
      new ConfigError(['PORT: bad']),
      'The configuration cannot be used:\n  PORT: bad\n',
    ],
    ['a database', new DatabaseError('start it'), 'start it\n'],
    [
      'a port that is taken',
      Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE', port: 80 }),
      'port 80 is in use: stop what listens there, or set PORT to another\n',
    ],
    [
      'an option that it does not know',
      Object.assign(new Error("Unknown option '--x'"), { code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' }),
      "Unknown option '--x'\n",
    ],
    ['something that is no error', 'odd', 'odd\n'],
  ])('because of %s says it in a line', (_what, error, text) => {
    expect(told(error)).toBe(text)
  })

  it('for an unknown reason shows the stack', () => {
    expect(told(new TypeError('x is not a function'))).toMatch(/^TypeError: x is not a function\n +at /)
  })
})
