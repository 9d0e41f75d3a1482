import { type CommandParser, createClient, defineScript } from '@redis/client'
import { ROUNDING_MS, stepMsOf, takenOf } from './bucket.ts'
import type { Question, Store, StoreOptions } from './store.ts'

/**
 * A bucket is two numbers, the moments at which it is full again, when its key expires, and at which it was last asked. ARGV: the moment, or nothing for the server's own
 * clock, then for each key wanted, step and burst. Answers are texts, because Redis would cut numbers to whole ones. With a moment that a
 * test sets, keys stay: the server's clock is another one.
 */
const SCRIPT = `
local at = tonumber(ARGV[1])
local isOwnClock = at == nil
if isOwnClock then
  local now = redis.call('TIME')
  at = now[1] * 1000 + now[2] / 1000
end
local answers = {string.format('%.17g', at)}
for place, key in ipairs(KEYS) do
  local wanted = tonumber(ARGV[place * 3 - 1])
  local step = tonumber(ARGV[place * 3])
  local burst = tonumber(ARGV[place * 3 + 1])
  local refill = burst * step
  local fullAt, takenAt = string.match(redis.call('GET', key) or '0 0', '(%S+) (%S+)')
  local missing = math.min(math.max(tonumber(fullAt) - math.max(at, tonumber(takenAt)), 0), refill)
  local granted = math.min(wanted, burst, math.floor((refill - missing + ${ROUNDING_MS}) / step))
  local filled = string.format('%.17g', at + missing + granted * step)
  local bucket = filled .. ' ' .. string.format('%.17g', at)
  if isOwnClock then
    redis.call('SET', key, bucket, 'PX', math.max(1, math.ceil(missing + granted * step)))
  else
    redis.call('SET', key, bucket)
  end
  answers[#answers + 1] = filled
  answers[#answers + 1] = tostring(granted)
end
return answers`

const takeScript = defineScript({
  SCRIPT,
  parseCommand(parser: CommandParser, moment: string, questions: readonly Question[]) {
    parser.pushKeysLength(questions.map(({ key }) => key))
    parser.push(moment)
    for (const { rate, wanted } of questions) {
      parser.push(String(wanted), String(stepMsOf(rate)), String(rate.burst))
    }
  },
  transformReply: (reply: unknown) => reply as string[],
})

function openClient(url: string) {
  const client = createClient({
    url,
    name: 'referrer-limits',
    // Without a connection a question fails at once; `reset` opens the next one.
    disableOfflineQueue: true,
    socket: { reconnectStrategy: false },
    scripts: { take: takeScript },
  })
  // The failure of a question tells the same.
  client.on('error', () => {})
  const connected = client.connect()
  connected.catch(() => {})
  return { client, connected }
}

export function createRedisStore(url: string, { clock }: StoreOptions = {}): Store {
  let { client, connected } = openClient(url)
  const end = () => {
    if (client.isOpen) client.destroy()
  }

  return {
    name: 'redis',
    async take(questions) {
      await connected
      const moment = clock ? String(clock()) : ''
      const [at, ...answers] = await client.take(moment, questions)
      return questions.map(({ rate, wanted }, place) => {
        const [fullAt, granted] = [Number(answers[place * 2]), Number(answers[place * 2 + 1])]
        return takenOf({ fullAt, takenAt: Number(at), granted }, rate, wanted)
      })
    },
    reset() {
      end()
      ;({ client, connected } = openClient(url))
    },
    async close() {
      end()
    },
  }
}
