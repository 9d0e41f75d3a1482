// The machine: its clock, ports, disk and memory.
import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, resolve } from 'node:path'
import type { ReadableChain, World } from './chains.ts'
import type { TimeSource } from './database.ts'
import { allOf, type Examination, fine, type Verdict, warning, wrong } from './examination.ts'
import type { Subject } from './subject.ts'

const GROUP = 'machine'
const MOST_SKEW_MS = 10_000
/** Longer than the checks take from which the clocks come. */
const CLOCK_WITHIN_MS = 15_000
const MEGABYTE = 1_048_576
/** Postgres needs about this much to stay alive, and this much to grow for a while. */
const LEAST_DISK = 500 * MEGABYTE
const ENOUGH_DISK = 5_000 * MEGABYTE
/** Beside the service itself the local model takes 300 MB, and learning from 200,000 products 475 MB for some minutes. */
const ENOUGH_MEMORY = 700 * MEGABYTE

export function checkMachine(
  examination: Examination,
  { service, facilitator, roles }: Subject,
  world: World,
  times: Promise<TimeSource>[],
  chains: Promise<ReadableChain>[],
): void {
  examination.check({
    group: GROUP,
    name: 'clock',
    advice: 'synchronise the clock of this machine (NTP)',
    withinMs: CLOCK_WITHIN_MS,
    run: async () =>
      judgeClock([...(await allOf(times)), ...(await allOf(chains)).map((chain) => aheadOf(chain, world))]),
  })
  const doors = [service, facilitator].flatMap((config) => (config && config.port !== 0 ? [config] : []))
  const [first, second] = doors
  for (const { host, port } of first?.port === second?.port ? doors.slice(0, 1) : doors) {
    examination.check({
      group: GROUP,
      name: `port ${port}`,
      advice: 'choose another PORT',
      run: () => judgePort(host, port, world),
    })
  }
  if (first && first.port === second?.port) {
    examination.check({
      group: GROUP,
      name: 'ports',
      advice: 'set FACILITATOR_PORT',
      run: () =>
        wrong(`service and facilitator both have port ${first.port}`, 'set FACILITATOR_PORT to another one'),
    })
  }
  for (const { databaseUrl, dataDir } of [service, facilitator].filter((config) => config !== undefined)) {
    if (databaseUrl) continue
    examination.check({
      group: GROUP,
      name: `disk of ${dataDir}`,
      advice: 'choose another DATA_DIR',
      run: () => judgeDisk(dataDir),
    })
  }
  if (
    ['local', 'auto'].includes(service?.embedder?.kind ?? '') &&
    (roles.has('api') || roles.has('workers'))
  ) {
    examination.check({ group: GROUP, name: 'memory', advice: 'free some', run: judgeMemory })
  }
}

const aheadOf = ({ chainId, head }: ReadableChain, { clock }: World): TimeSource => ({
  name: `chain ${chainId}`,
  // A block can be old because nothing happened, so that only one from the future says something.
  aheadMs: Math.max(0, Number(head.timestamp) * 1_000 - clock()),
})

function judgeClock(times: readonly TimeSource[]): Verdict<undefined> {
  const off = times.filter(({ aheadMs }) => Math.abs(aheadMs) > MOST_SKEW_MS)
  if (off.length === 0)
    return fine(`agrees with ${times.map(({ name }) => name).join(', ') || 'nobody: none answers'}`)
  const each = off.map(
    ({ name, aheadMs }) =>
      `${name} is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`,
  )
  return wrong(
    `${each.join(', ')} of this machine's clock`,
    'synchronise the clocks (NTP): signatures and payments are valid for minutes only',
  )
}

/** Listens for a moment. A port that one of ours has already is fine. */
async function judgePort(
  host: string,
  port: number,
  { fetch, requestMs }: World,
): Promise<Verdict<undefined>> {
  const server = createServer()
  const code = await new Promise<string | undefined>((done) => {
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code))
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(undefined)))
  })
  if (code === undefined) return fine('free')
  if (code === 'EACCES') return wrong('this user may not listen there', 'choose a PORT from 1024 up')
  if (code === 'EADDRNOTAVAIL') return wrong(`${host} is no address of this machine`, 'correct HOST')
  if (code !== 'EADDRINUSE') return wrong(`it cannot be opened (${code})`, 'correct HOST and PORT')
  const at = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const answer = await fetch(`http://${at.includes(':') ? `[${at}]` : at}:${port}/healthz`, {
    signal: AbortSignal.timeout(requestMs),
  })
    .then((response) => response.json())
    .catch(() => undefined)
  return answer?.status === 'ok'
    ? fine('one of our processes listens there already')
    : wrong('another program listens there', 'stop it, or choose another PORT')
}

async function judgeDisk(directory: string): Promise<Verdict<undefined>> {
  let at = resolve(directory)
  while (!existsSync(at)) at = dirname(at)
  const { bavail, bsize } = await statfs(at)
  const free = bavail * bsize
  const says = `${Math.round(free / MEGABYTE)} MB are free`
  if (free < LEAST_DISK) return wrong(says, 'free some space: Postgres stops when the disk is full')
  return free < ENOUGH_DISK ? warning(says, 'make room before it is full') : fine(says)
}

function judgeMemory(): Verdict<undefined> {
  const free = process.availableMemory()
  const says = `${Math.round(free / MEGABYTE)} MB are available`
  return free < ENOUGH_MEMORY
    ? warning(
        says,
        'a model needs 300 to 500 MB beside the service: add memory, or set EMBEDDER=learned, endpoint or off',
      )
    : fine(says)
}
