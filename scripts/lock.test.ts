import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'

let folder: string
let lock: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'referrer-lock-'))
  lock = join(folder, 'lock')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A process that takes the lock, says so, and gives it back when it is told to. */
function contender() {
  const code = `
    import { acquireLock } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'lock.mjs')).href)}
    const release = await acquireLock(${JSON.stringify(lock)}, () => console.log('waits'))
    console.log('holds')
    process.stdin.on('end', () => { console.log('gives back'); release() }).resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const said = async (word: string) => {
    while (!output.includes(word)) await once(child.stdout, 'data')
  }
  const ended = once(child, 'close')
  const giveBack = () => {
    child.stdin.end()
    return ended
  }
  return { child, said, ended, giveBack, output: () => output.trim().split('\n') }
}

it('makes the second wait for the first', async () => {
  const first = contender()
  await first.said('holds')
  const second = contender()
  await second.said('waits')
  expect(first.output()).toEqual(['holds'])
  await first.giveBack()
  await second.giveBack()
  expect(second.output()).toEqual(['waits', 'holds', 'gives back'])
  expect(existsSync(lock)).toBe(false)
})

it('is taken over from a process that was killed', async () => {
  const first = contender()
  await first.said('holds')
  first.child.kill('SIGKILL')
  await first.ended
  const second = contender()
  await second.giveBack()
  expect(second.output()).toEqual(['holds', 'gives back'])
})

it('is taken over when its holder has been silent, though the process id lives on', async () => {
  writeFileSync(lock, String(process.pid))
  const longAgo = new Date(Date.now() - 120_000)
  utimesSync(lock, longAgo, longAgo)
  const next = contender()
  await next.giveBack()
  expect(next.output()).toEqual(['holds', 'gives back'])
})
