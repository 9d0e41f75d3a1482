// A process that sends what is due, and stops before or after the request to the messenger when it is told to. Its test kills it.
import { connect } from '@referrer/database'
import { pino } from 'pino'
import { noticesWorker } from '../../src/derived/notices/worker.ts'
import type { Context } from '../../src/kit/context.ts'
import { runAlone } from '../../src/machinery/workers/testing.ts'
import { HttpChannel } from './http-channel.ts'

const { DATABASE_URL = '', MESSENGER_URL = '', CHAIN_ID, AHEAD_MS, STOPS } = process.env

class StoppingChannel extends HttpChannel {
  override async send(...args: Parameters<HttpChannel['send']>) {
    if (STOPS === 'before the request') await this.#stop(args[0])
    const delivery = await super.send(...args)
    if (STOPS === 'after the answer') await this.#stop(args[0])
    return delivery
  }

  async #stop(chat: string): Promise<void> {
    process.stdout.write(`${chat}\n`)
    await new Promise(() => {})
  }
}

const channels = [
  new StoppingChannel('plain', MESSENGER_URL, false),
  new StoppingChannel('keyed', MESSENGER_URL, true),
]
runAlone(
  noticesWorker({
    sql: connect(DATABASE_URL, { name: 'doomed-sender' }),
    chains: new Map([[Number(CHAIN_ID), {}]]) as unknown as Context['chains'],
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    clock: () => Date.now() + Number(AHEAD_MS),
    log: pino({ level: 'silent' }),
  } as Partial<Context> as Context),
)
