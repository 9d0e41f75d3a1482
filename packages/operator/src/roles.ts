import { ConfigError, type Env } from '@referrer/process'
import { ROLES as SERVICE_ROLES } from '@referrer/service'

export const ROLES = [...SERVICE_ROLES, 'facilitator'] as const
export type Role = (typeof ROLES)[number]

/** What the option `--roles` says, else the variable ROLES, else all of the service. In the order of `ROLES`. */
export function readRoles(option: string | undefined, env: Env): Role[] {
  const text = option ?? (env.ROLES?.trim() || SERVICE_ROLES.join(','))
  const named = text.split(',').map((name) => name.trim())
  const known = ROLES.filter((role) => named.includes(role))
  if (known.length < new Set(named).size) {
    const source = option === undefined ? 'ROLES' : '--roles'
    throw new ConfigError([`${source}: expected any of ${ROLES.join(', ')}, separated by commas`])
  }
  return known
}

export const isOfService = (role: Role): boolean => role !== 'facilitator'
