import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'referrer-run-'))
afterAll(() => rmSync(folder, { recursive: true }))

function start(code: string, args: string[] = []) {
  const file = join(folder, `${Math.random()}.ts`)
  writeFileSync(file, code)
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run.mjs'), file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { child, exited: once(child, 'exit'), firstOutput: once(child.stdout, 'data') }
}

it('runs TypeScript with its arguments on Node 24 or newer', async () => {
  const { exited, firstOutput } = start(
    'const major: number = Number.parseInt(process.versions.node); console.log(major >= 24, process.argv.slice(2))',
    ['--flag', 'value'],
  )
  expect(String(await firstOutput)).toContain("true [ '--flag', 'value' ]")
  expect(await exited).toEqual([0, null])
})

it('passes the exit code through', async () => {
  expect(await start('process.exit(7)').exited).toEqual([7, null])
})

it('exits with 128 and the number of the signal that ended the file', async () => {
  expect(await start("process.kill(process.pid, 'SIGKILL')").exited).toEqual([137, null])
})

it('forwards an interrupt, so that the file can end in its own way', async () => {
  const { child, exited, firstOutput } = start(
    "process.on('SIGINT', () => process.exit(3)); setInterval(() => {}, 1000); console.log('up')",
  )
  await firstOutput
  child.kill('SIGINT')
  expect(await exited).toEqual([3, null])
})
