import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Env } from '@referrer/process'
import { afterAll, describe, expect, it } from 'vitest'
import type { Command } from './command.ts'
import { runCommand } from './referrer.ts'

const directory = mkdtempSync(join(tmpdir(), 'referrer-command-'))
afterAll(() => rmSync(directory, { recursive: true }))

function surroundings(env: Env = {}) {
  const printed: string[] = []
  return { env, printed, print: (text: string) => void printed.push(text) }
}

const seen: { args: string[]; env: Env }[] = []
const rotate: Command = {
  name: 'keys rotate',
  summary: 'changes keys',
  help: () => 'all about keys\n',
  async run(args, { env }) {
    seen.push({ args, env })
    return 3
  },
}

describe('the referrer command', () => {
  it('lists its commands', async () => {
    const here = surroundings()
    expect(await runCommand(['--help'], here, [rotate])).toBe(0)
    expect(here.printed.join('')).toContain('  keys rotate  changes keys\n')
  })

  it('refuses a command that it does not have, and lists those it has', async () => {
    const here = surroundings()
    await expect(runCommand(['keys', 'lose'], here, [rotate])).rejects.toThrow(
      'there is no command keys lose',
    )
    expect(here.printed.join('')).toContain('keys rotate')
  })

  it('explains each command', async () => {
    const here = surroundings()
    expect(await runCommand(['keys', 'rotate', '--help'], here, [rotate])).toBe(0)
    expect(here.printed).toEqual(['all about keys\n'])
  })

  it('takes settings from a file, and the environment wins', async () => {
    const file = join(directory, 'referrer.env')
    writeFileSync(file, '# a comment\nPORT=1\nHOST="::1"\n')
    const here = surroundings({ PORT: '2' })
    expect(await runCommand(['keys', 'rotate', '--config', file, 'old'], here, [rotate])).toBe(3)
    expect(seen.at(-1)).toEqual({ args: ['old'], env: { PORT: '2', HOST: '::1' } })
    await expect(runCommand(['--config=nowhere', 'keys', 'rotate'], here, [rotate])).rejects.toThrow(
      '--config: nowhere cannot be read (ENOENT)',
    )
  })
})
