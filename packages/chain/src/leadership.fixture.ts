// A process that leads until it is killed. Arguments: database URL, lock.
import { setTimeout as sleep } from 'node:timers/promises'
import { lead } from './leadership.ts'

const [databaseUrl = '', lock = ''] = process.argv.slice(2)
const { signal } = new AbortController()

await lead({ databaseUrl, lock, signal }, async () => {
  console.log('leading')
  await sleep(600_000)
})
