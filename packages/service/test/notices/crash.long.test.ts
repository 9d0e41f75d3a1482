import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { EscrowDeposit } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { buyThrough } from '../http/town.ts'
import { HttpChannel } from './http-channel.ts'
import { goTo, newLinked, sendAll, startWorld, type World } from './world.ts'

let world: World<HttpChannel>
let messenger: Server
let messengerUrl: string
/** What people got: `keyed` drops a message whose key it knows. */
const got: { chat: string; key: string }[] = []
let isHolding = false
const held: ServerResponse[] = []

beforeAll(async () => {
  messenger = createServer(async (request, response) => {
    const { channel, chat, key } = JSON.parse(await text(request))
    if (channel === 'plain' || !got.some((one) => one.key === key)) got.push({ chat, key })
    if (isHolding) held.push(response)
    else response.end()
  })
  await once(messenger.listen(0, '127.0.0.1'), 'listening')
  messengerUrl = `http://127.0.0.1:${(messenger.address() as AddressInfo).port}`
  world = await startWorld({
    plain: new HttpChannel('plain', messengerUrl, false),
    keyed: new HttpChannel('keyed', messengerUrl, true),
  })
})
afterAll(async () => {
  await world.m.close()
  messenger.close()
})

const countOf = (chat: string) => got.filter((one) => one.chat === chat).length

interface Bought {
  chat: string
  deposit: EscrowDeposit
}

/** Two people, one on each messenger, whose reminders are due. */
async function twoDue(): Promise<[Bought, Bought]> {
  const bought = async (channel: string): Promise<Bought> => {
    const { chat, ...buyer } = await newLinked(world, channel)
    return { chat, deposit: await buyThrough(world.m, buyer, world.link) }
  }
  const both: [Bought, Bought] = [await bought('plain'), await bought('keyed')]
  await sendAll(world)
  expect(both.map(({ chat }) => countOf(chat))).toEqual([1, 1])
  await goTo(world, both[1].deposit, 3.01)
  return both
}

function startSender(stops = ''): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(new URL('doomed-sender.fixture.ts', import.meta.url))], {
    env: {
      ...process.env,
      DATABASE_URL: world.m.databaseUrl,
      MESSENGER_URL: messengerUrl,
      CHAIN_ID: String(world.m.chainId),
      AHEAD_MS: String(world.m.clock.aheadMs),
      STOPS: stops,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Waits until the database has noticed that the sender is gone: a backend that was waiting for a lock goes on until it has an answer to send. */
const untilForgotten = () =>
  until(
    async () =>
      (await world.m.sql`SELECT FROM pg_stat_activity WHERE application_name = 'doomed-sender'`).count === 0,
    'the end of the backends of a sender that was killed',
  )

/** Kills a sender that waits for this table, which is locked meanwhile. */
async function killWaitingFor(table: string): Promise<void> {
  await world.m.sql.begin(async (tx) => {
    await tx.unsafe(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    const child = startSender()
    await until(
      async () =>
        (await tx`SELECT FROM pg_locks WHERE relation = ${table}::regclass AND NOT granted`).count > 0,
      `a sender that waits for ${table}`,
    )
    await kill(child)
  })
}

/** Kills a sender that has stopped there with the messages of both. */
async function killStopped(stops: string): Promise<void> {
  const child = startSender(stops)
  let printed = ''
  child.stdout?.on('data', (chunk) => {
    printed += chunk
  })
  await until(() => printed.split('\n').length > 2, `a sender that stopped ${stops}`)
  await kill(child)
}

const claimed = async () =>
  (await world.m.sql`SELECT FROM market.notices WHERE lease_token IS NOT NULL AND sending_chat IS NULL`).count
const onTheirWay = async () =>
  (await world.m.sql`SELECT FROM market.notices WHERE sending_chat IS NOT NULL`).count

interface Step {
  when: string
  crash(both: [Bought, Bought]): Promise<void>
  /** How many reminders the person without idempotency keys has got until shortly before, and shortly after, a day has passed. */
  plain: [number, number]
}

const STEPS: Step[] = [
  {
    when: 'before it has claimed them',
    crash: () => killWaitingFor('market.notices'),
    plain: [1, 1],
  },
  {
    when: 'after it has claimed them',
    async crash() {
      await killWaitingFor('market.chat_links')
      expect(await claimed()).toBe(2)
    },
    plain: [1, 1],
  },
  {
    when: 'before the requests leave',
    async crash() {
      await killStopped('before the request')
      expect(await onTheirWay()).toBe(2)
    },
    plain: [0, 1],
  },
  {
    when: 'before the messenger has answered',
    async crash(both) {
      isHolding = true
      const child = startSender()
      await until(() => both.every(({ chat }) => countOf(chat) === 2), 'both requests')
      await kill(child)
      isHolding = false
      for (const response of held.splice(0)) response.end()
      expect(await onTheirWay()).toBe(2)
    },
    plain: [1, 2],
  },
  {
    when: 'before it has recorded the answers',
    async crash() {
      await killStopped('after the answer')
      expect(await onTheirWay()).toBe(2)
    },
    plain: [1, 2],
  },
  {
    when: 'after it has recorded the answers',
    async crash(both) {
      const child = startSender()
      await until(() => both.every(({ chat }) => countOf(chat) === 2), 'both reminders')
      await until(async () => (await onTheirWay()) + (await claimed()) === 0, 'the records of both')
      await kill(child)
    },
    plain: [1, 1],
  },
]

describe('when a sender is killed', () => {
  it.each(STEPS)('$when, nobody is reminded twice and nobody never', async ({ crash, plain }) => {
    const both = await twoDue()
    await crash(both)
    await untilForgotten()
    const reminders: number[][] = []
    // Before and after the lease has ended, and around the end of the day that follows.
    for (const days of [3.01, 3.02, 3.95, 4.1]) {
      await goTo(world, both[1].deposit, days)
      await sendAll(world)
      reminders.push(both.map(({ chat }) => countOf(chat) - 1))
    }
    expect(reminders.slice(1)).toEqual([
      [plain[0], 1],
      [plain[0], 1],
      [plain[1], 1],
    ])
  })
})
