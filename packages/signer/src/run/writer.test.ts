import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createWriter, wordsOf } from './writer.ts'

const node = (script: string) => `"${process.execPath}" -e '${script}'`
const ask = (command: string, signal = new AbortController().signal) =>
  createWriter({ command })?.({ problem: null }, signal)

it('a command is split at spaces and quotes, and nothing in it is expanded', () => {
  expect(wordsOf(`./review --as "a person" 'in $HOME' ; rm *`)).toEqual([
    './review',
    '--as',
    'a person',
    'in $HOME',
    ';',
    'rm',
    '*',
  ])
})

describe('a command', () => {
  it('answers with one JSON document, and need not read its input', async () => {
    expect(await ask(node('console.log("{\\"content\\":{}}")'))).toEqual({ content: {} })
  })

  it.each<[string, string, RegExp]>([
    ['that writes no end', 'setInterval(() => process.stdout.write("x".repeat(1e5)), 1)', /more than 1 MiB/],
    ['that writes no JSON', 'console.log("fine")', /did not write one JSON document/],
    ['that fails', 'console.error("no model"); process.exit(2)', /ended with 2: no model/],
  ])('%s is refused', async (_, script, refusal) => {
    await expect(ask(node(script))).rejects.toThrow(refusal)
  })

  it('that does not exist is refused', async () => {
    await expect(ask('./no-such-command')).rejects.toThrow(/cannot be run/)
  })

  it('ends with the runner', async () => {
    const stopping = new AbortController()
    const asked = ask(node('setInterval(() => {}, 1e6)'), stopping.signal)
    stopping.abort()
    await expect(asked).rejects.toThrow(/was stopped/)
  })

  it('ends with the runner also when it has left behind a program that holds its output', async () => {
    const stopping = new AbortController()
    const asked = ask('sh -c "sleep 600 & exit 0"', stopping.signal)
    const settled = Promise.allSettled([asked])
    await sleep(300)
    stopping.abort()
    await settled
    await expect(asked).rejects.toThrow(/was stopped/)
  })

  it('whose own child writes no end is refused, and the child ends', async () => {
    await expect(ask('sh -c "yes & wait"')).rejects.toThrow(/more than 1 MiB/)
  })
})
