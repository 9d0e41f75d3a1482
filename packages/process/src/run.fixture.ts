// A program that starts and stops as its arguments say.
import { once } from 'node:events'
import { createLog } from './log.ts'
import { failStart, runUntilSignal } from './run.ts'

const [start = 'starts', stop = 'stops'] = process.argv.slice(2)
const context = { log: createLog('silent') }
const say = (word: string) => process.stdout.write(`${word}\n`)

async function begin() {
  // This timer keeps the process alive.
  setInterval(() => {}, 60_000)
  // Listens before it prints `starting`, because the test may send the signal at once.
  const signalled = start === 'starts slowly' && once(process, 'SIGTERM')
  say('starting')
  await signalled
  if (start === 'fails') throw new Error('no luck')
  return {
    context,
    async stop() {
      say('stopping')
      if (stop === 'hangs') await new Promise(() => {})
      return { stuck: stop === 'gets stuck' ? ['a worker'] : [] }
    },
  }
}

await runUntilSignal(begin).then(() => say('started'), failStart)
