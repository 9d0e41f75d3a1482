// What is looked at: the configuration with which `serve` would start.
import type { ChainConfig, Env, OwnAccount } from '@referrer/process'
import { type Programs, readPrograms } from '../../programs.ts'
import { type Role, readRoles } from '../../roles.ts'

/** An account of ours that sends transactions on every chain. */
export interface Sender extends OwnAccount {
  job: 'oracle' | 'publisher' | 'relayer'
  /** The variable that names it. */
  variable: string
}

export interface SubjectChain {
  chainId: number
  config: ChainConfig
  /** Of service and facilitator together. */
  urls: string[]
}

export interface Subject extends Programs {
  env: Env
  configFile: string | undefined
  roles: ReadonlySet<Role>
  chains: SubjectChain[]
  accounts: Sender[]
  /** Whether real people's money may be there: a chain that is no sandbox's. */
  isReal: boolean
}

/** Chains of sandboxes. */
const PLAY_CHAINS = [31_337, 1_337]

/** Reads everything that the roles need; throws one `ConfigError` with all problems. */
export function readSubject(env: Env, configFile: string | undefined, wanted: string | undefined): Subject {
  const roles = new Set(readRoles(wanted, env))
  const programs = readPrograms(env, [...roles])
  const { service, facilitator } = programs
  const chains = chainsOf([...(service?.chains ?? []), ...(facilitator?.chains ?? [])])
  return {
    env,
    configFile,
    roles,
    service,
    facilitator,
    chains,
    accounts: accountsOf(programs, roles),
    isReal: chains.some(({ chainId }) => !PLAY_CHAINS.includes(chainId)),
  }
}

function chainsOf(configs: readonly ChainConfig[]): SubjectChain[] {
  const ids = [...new Set(configs.map(({ chainId }) => chainId))]
  return ids.flatMap((chainId) => {
    const same = configs.filter((config) => config.chainId === chainId)
    const [config] = same
    const urls = new Set(same.flatMap(({ rpcUrls }) => rpcUrls.map((url) => url.reveal())))
    return config ? [{ chainId, config, urls: [...urls] }] : []
  })
}

/** The accounts of the service send from its workers alone. */
function accountsOf({ service, facilitator }: Programs, roles: ReadonlySet<Role>): Sender[] {
  const sender = (job: Sender['job'], account: OwnAccount): Sender => {
    const isMany = job === 'relayer'
    const form = account.privateKey ? 'PRIVATE_KEY' : 'ADDRESS'
    const ending = isMany ? (account.privateKey ? 'S' : 'ES') : ''
    return { ...account, job, variable: `${job.toUpperCase()}_${form}${ending}` }
  }
  const isSending = roles.has('workers')
  return [
    ...(isSending && service?.oracle ? [sender('oracle', service.oracle)] : []),
    ...(isSending && service?.publisher ? [sender('publisher', service.publisher)] : []),
    ...(facilitator?.relayers ?? []).map((account) => sender('relayer', account)),
  ]
}
