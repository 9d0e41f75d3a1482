import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError, type Env } from '@referrer/process'
import { checkAccounts } from './accounts.ts'
import { checkChains, type World } from './chains.ts'
import { checkConfiguration } from './configuration.ts'
import { checkContracts } from './contracts.ts'
import { checkDatabases } from './database.ts'
import { Examination, type Finding } from './examination.ts'
import { checkMachine } from './machine.ts'
import { checkPartners } from './partners.ts'
import { checkSigners } from './signers.ts'
import { readSubject, type Subject } from './subject.ts'

export interface Options {
  env: Env
  configFile?: string | undefined
  /** Wins over the variable ROLES. */
  roles?: string | undefined
  /** Called with the checks that have not ended, after `progressMs` (two seconds) and then as often. */
  onProgress?: (waiting: readonly string[]) => void
  progressMs?: number
}

const PROGRESS_MS = 2_000
const REQUEST_MS = 5_000

/** Looks at everything that a process with this configuration needs. Changes nothing. */
export async function examine(options: Options, given: Partial<World> = {}): Promise<Finding[]> {
  const { env, configFile, roles, onProgress = () => {}, progressMs = PROGRESS_MS } = options
  const world: World = { fetch, clock: Date.now, requestMs: REQUEST_MS, sleep, ...given }
  let subject: Subject
  try {
    subject = readSubject(env, configFile, roles)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return unreadable(error)
  }
  const examination = new Examination()
  checkConfiguration(examination, subject)
  checkSigners(examination, subject)
  const databaseTimes = checkDatabases(examination, subject, world.clock)
  const chains = checkChains(examination, subject, world)
  for (const [at, chain] of subject.chains.entries()) {
    const readable = chains[at] ?? Promise.reject(new Error('a chain was not looked at'))
    checkContracts(examination, subject, chain, readable)
    checkAccounts(examination, subject, chain, readable, world)
  }
  const partnerTimes = checkPartners(examination, subject, world)
  checkMachine(examination, subject, world, [...databaseTimes, ...partnerTimes], chains)
  const timer = setInterval(() => onProgress(examination.waiting()), progressMs)
  return await examination.findings().finally(() => clearInterval(timer))
}

/** Every problem is a finding; without a configuration nothing else can be looked at. */
function unreadable({ problems }: ConfigError): Finding[] {
  const wrong = problems.map((problem): Finding => {
    const [, check = 'variables', text = problem] = /^(\w+)(?:\S*): (.*)$/s.exec(problem) ?? []
    const [found = text, ...advice] = text.split('; ')
    return {
      group: 'configuration',
      check,
      status: 'wrong',
      found,
      advice: advice.join('; ') || `correct ${check}`,
    }
  })
  const found = 'not checked, because the configuration cannot be used'
  return [...wrong, { group: 'everything else', check: 'all', status: 'skipped', found }]
}
