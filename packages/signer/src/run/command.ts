// `referrer-signer run`: polls the queue of an agent and does what is in it.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { settingsOf } from '../chain/deployment.ts'
import { ConfigError, need, readConfig } from '../config.ts'
import { createContext, type Overrides } from '../context.ts'
import { explain, isExpected, Refused } from '../refused.ts'
import { execute, markEarlier } from './execute.ts'
import { createOutput, nameOf } from './output.ts'
import { openQueue } from './queue.ts'
import { openRecords } from './records.ts'
import { reviewAll } from './review.ts'
import type { Runner } from './runner.ts'
import { createWriter } from './writer.ts'

const USAGE = `Buys what the owner of an agent has queued for it, and tells the owner what became of it.

Usage: npx @referrer/signer run --agent <id> [options]

  --agent <id>               the agent; its key must be that of its owner
  --chain <id>               the chain (default that of the signer; another one is refused)
  --once                     end after one pass: 0 when everything was done, 1 when something was left
  --dry-run                  say what would be done; sign no payment and mark nothing
  --every <time>             the time between polls, such as 15s, 2m or 1h (default 15s)
  --review-with <command>    writes the reviews that intents ask for: gets one JSON document on stdin and
                             answers with one on stdout. It is run without a shell and without the keys
  --review-mcp <server>      the same by the tool write_review of an MCP server: a command, or a URL
  --help

The environment is that of the signer: npx @referrer/signer --help.
`

const LONGEST_MS = 3_600_000

/** Returns the exit code. */
export async function run(args: string[], overrides: Overrides = {}): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      agent: { type: 'string' },
      chain: { type: 'string' },
      once: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      every: { type: 'string', default: '15s' },
      'review-with': { type: 'string' },
      'review-mcp': { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const everyMs = readOptions(values)
  const context = createContext(readConfig(process.env), overrides)
  const output = createOutput(context, (text) => void process.stdout.write(text))
  const { agent: agentId = '' } = values
  let runner: Runner
  try {
    need(context.config, 'BASE_RPC_URL', 'REFERRER_AGENT_MCP_URL')
    const { CHAIN_ID: chainId } = await settingsOf(
      context,
      'CHAIN_ID',
      'COMMISSION_ESCROW_ADDRESS',
      'REVIEW_REGISTRY_ADDRESS',
    )
    if (values.chain !== undefined && values.chain !== String(chainId)) {
      throw new Refused(`wrong chain: asked for chain ${values.chain}, and the signer is set to ${chainId}`)
    }
    runner = {
      context,
      chainId,
      agentId,
      queue: openQueue(context, chainId, agentId),
      records: openRecords(context.config.SIGNER_STATE_DIR, chainId, agentId),
      output,
      writer: createWriter({ command: values['review-with'], mcp: values['review-mcp'] }),
      isDryRun: values['dry-run'],
    }
  } catch (error) {
    if (!isExpected(error)) throw error
    output.say(explain(error))
    return 1
  }
  const stopping = stopOnSignal(runner)
  if (values.once) {
    const isDone = await pass(runner, stopping)
    const isReviewed = await reviews(runner, stopping)
    return isDone && isReviewed ? 0 : 1
  }
  output.say(`agent ${agentId} on chain ${runner.chainId}: looks for intents every ${everyMs / 1_000} s`)
  // Purchases do not wait for reviews, which take minutes.
  let reviewing: Promise<unknown> | undefined
  while (!stopping.aborted) {
    await pass(runner, stopping)
    reviewing ??= reviews(runner, stopping).finally(() => {
      reviewing = undefined
    })
    await sleep(everyMs, undefined, { signal: stopping }).catch(() => {})
  }
  await reviewing
  output.say('stopped')
  return 0
}

/** One look at the queue. Returns whether everything was done. */
async function pass(runner: Runner, stopping: AbortSignal): Promise<boolean> {
  const { records, queue, output, isDryRun } = runner
  let isDone = true
  try {
    if (!isDryRun) {
      for (const record of await records.listOpen()) {
        if (stopping.aborted) return false
        isDone = (await markEarlier(runner, record)) && isDone
      }
    }
    const intents = await queue.poll()
    output.sayOnce(
      'poll',
      `${intents.length === 0 ? 'no' : intents.length} pending intent${intents.length === 1 ? '' : 's'}`,
    )
    for (const [at, intent] of intents.entries()) {
      if (stopping.aborted) return false
      // A purchase takes a while, in which the owner may have withdrawn the next one.
      if (at > 0 && !(await queue.poll()).some(({ intent_id }) => intent_id === intent.intent_id)) {
        output.say(`${nameOf(intent.intent_id)} is not pending any more`)
        continue
      }
      isDone = (await execute(runner, intent)) && isDone
    }
    return isDone
  } catch (error) {
    output.sayOnce('poll', `this pass failed: ${explain(error)}`)
    return false
  }
}

/** Returns whether no review is left to do. */
async function reviews(runner: Runner, stopping: AbortSignal): Promise<boolean> {
  if (runner.isDryRun) return true
  return reviewAll(runner, stopping).catch((error: unknown) => {
    runner.output.sayOnce('reviews', `no reviews this time: ${explain(error)}`)
    return false
  })
}

/** The first signal lets the step under way finish, the second one ends at once. */
function stopOnSignal({ output }: Runner): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(1)
      output.say('stops after the step under way; once more to stop at once')
      stopping.abort()
    })
  }
  return stopping.signal
}

interface Options {
  agent?: string | undefined
  every: string
  'review-with'?: string | undefined
  'review-mcp'?: string | undefined
}

/** Returns the time between polls. */
function readOptions({ agent, every, 'review-with': command, 'review-mcp': mcp }: Options): number {
  if (agent === undefined || !/^(?:0|[1-9]\d{0,77})$/.test(agent)) {
    throw new ConfigError(['--agent: expected the id of an agent, such as --agent 7'])
  }
  const [, number, unit = 's'] = /^(\d{1,6})(s|m|h)?$/.exec(every) ?? []
  const everyMs = Number(number) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit as 's' | 'm' | 'h']
  if (!(everyMs >= 1_000 && everyMs <= LONGEST_MS)) {
    throw new ConfigError(['--every: expected 1s to 1h, such as 15s or 2m'])
  }
  if (command !== undefined && mcp !== undefined) {
    throw new ConfigError(['--review-with and --review-mcp: give one of them'])
  }
  return everyMs
}
