// A program that ends, or does not, as its test says.
import { once } from 'node:events'
import { createLog } from './log.ts'
import { failStart, runUntilSignal } from './run.ts'

const [start = 'starts', stop = 'stops'] = process.argv.slice(2)
const context = { log: createLog('silent') }
const say = (word: string) => process.stdout.write(`${word}\n`)

async function begin() {
  // Nothing else keeps this process alive.
  setInterval(() => {}, 60_000)
  // Listened for before anybody is told that this is starting: the signal may come at once.
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
