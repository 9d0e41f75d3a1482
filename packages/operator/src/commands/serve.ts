import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { builtDirectory, openConsole } from '@referrer/console'
import { variables as facilitatorVariables, startFacilitator } from '@referrer/facilitator'
import { describeVariables, type Program, runUntilSignal } from '@referrer/process'
import { variables as serviceVariables, startService } from '@referrer/service'
import type { Command, Surroundings } from '../command.ts'
import { type Programs, readPrograms } from '../programs.ts'
import { isOfService, type Role, readRoles } from '../roles.ts'

const help = () => `Runs the market: any mix of these roles in one process, until SIGTERM or SIGINT.

Usage: referrer serve [--roles <roles>]

  --roles <roles>  separated by commas (default the variable ROLES, else api,indexer,workers)
    api            HTTP, MCP, web console, search, webhooks of chats
    indexer        reads the chains into the records
    workers        sends transactions, runs schedules, follows changes, embeds texts, sends notices, polls chats
    facilitator    verifies and settles payments

A process without api answers only /healthz, /readyz and /metrics. Each role prints a line when the process is ready as /readyz means it.
Every variable may be given as <NAME>_FILE, the path of a file with the value.

Environment of api, indexer and workers:
${describeVariables(serviceVariables)}

Environment of the facilitator; each may have the prefix FACILITATOR_. Beside other roles it reads DATABASE_URL, DATA_DIR, PORT,
METRICS_PORT and ANSWER_TIMEOUT_MS only with the prefix:
${describeVariables(facilitatorVariables)}
`

export const serve: Command = {
  name: 'serve',
  summary: 'runs the service, the facilitator, or parts of them',
  help,
  async run(args, { env, print }) {
    const { values } = parseArgs({ args, options: { roles: { type: 'string' } } })
    const roles = readRoles(values.roles, env)
    const programs = readPrograms(env, roles)
    const running = await runUntilSignal((signal) => startPrograms(programs, { signal, print }))
    await running.ready(roles, print)
    return 0
  },
}

interface Part extends Program {
  url: string
  metricsUrl: string | undefined
  context: Program['context'] & { chains: ReadonlyMap<number, unknown> }
}

interface Running extends Program {
  /** Prints a line for each role once its program is ready. Returns early when the programs stop. */
  ready(roles: readonly Role[], print: Surroundings['print']): Promise<void>
}

/** The service first: a facilitator may ask it for its keys. They stop in the opposite order. */
async function startPrograms(
  programs: Programs,
  { signal, print }: { signal: AbortSignal; print: Surroundings['print'] },
): Promise<Running> {
  const started: { isFor: (role: Role) => boolean; part: Part }[] = []
  const stopping = new AbortController()
  const stop = async () => {
    stopping.abort()
    const stuck: string[] = []
    for (const { part } of started.toReversed()) stuck.push(...(await part.stop()).stuck)
    return { stuck }
  }
  try {
    if (programs.service) {
      const isApi = programs.service.roles.has('api')
      const console = isApi ? await openConsole(builtDirectory()) : undefined
      if (isApi && !console)
        print('there are no pages at /: build them with `npm run build -w packages/console`\n')
      started.push({ isFor: isOfService, part: await startService(programs.service, { console, signal }) })
    }
    if (programs.facilitator) {
      const part = await startFacilitator(programs.facilitator, { signal })
      started.push({ isFor: (role) => !isOfService(role), part })
    }
  } catch (error) {
    await stop()
    throw error
  }
  const [first] = started
  if (!first) throw new Error('there is at least one role')
  return {
    context: first.part.context,
    stop,
    async ready(roles, print) {
      const each = started.map(async ({ isFor, part }) => {
        if (!(await isReady(part, stopping.signal))) return
        const chains = [...part.context.chains.keys()].join(', ')
        for (const role of roles.filter(isFor))
          print(`referrer ${role} ready on ${part.url}, chains ${chains}\n`)
        if (part.metricsUrl) print(`metrics on ${part.metricsUrl}/metrics\n`)
      })
      await Promise.all(each)
    },
  }
}

const LOOK_MS = 250

interface Readiness {
  checks: Record<string, { ok: boolean; detail: string }>
}

/** Waits for `/readyz`, and logs what is missing whenever that changes. False: the program stops. */
async function isReady({ url, context: { log } }: Part, signal: AbortSignal): Promise<boolean> {
  let told = ''
  while (!signal.aborted) {
    const response = await fetch(`${url}/readyz`, { signal }).catch(() => undefined)
    if (response?.ok) return true
    const { checks = {} } = ((await response?.json().catch(() => undefined)) ?? {}) as Partial<Readiness>
    const waiting = Object.fromEntries(
      Object.entries(checks).flatMap(([name, { ok, detail }]) => (ok ? [] : [[name, detail]])),
    )
    const names = Object.keys(waiting).join(', ')
    if (names !== told) log.info({ waiting }, 'not ready yet')
    told = names
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
  return false
}
