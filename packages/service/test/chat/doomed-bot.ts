// A process whose bot polls and never answers. Its test kills it.
import { connect } from '@referrer/database'
import { Secret } from '@referrer/process'
import { openTelegram } from '../../src/doors/chat/telegram/telegram.ts'
import { testContext } from '../../src/doors/http/testing.ts'
import { startWorkers } from '../../src/machinery/workers/frame.ts'

const { databaseUrl, apiRoot, token } = JSON.parse(process.env.BOT ?? '')
process.stdin.on('end', () => process.exit()).resume()

const telegram = openTelegram(
  { token: new Secret(token), botName: 'doomed_bot', apiRoot, webhookSecret: undefined },
  { fetch, menu: [] },
)
const { context } = testContext(connect(databaseUrl), { databaseUrl: new Secret(databaseUrl) })
const { workers } = telegram.receive(context, ({ text }) => {
  process.stdout.write(`asked: ${text}\n`)
  return new Promise(() => {})
})
startWorkers({ workers, onEvent: () => {} })
