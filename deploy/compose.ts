// Reads compose.yaml as compose does: merge keys, `${NAME}` of the environment, the forms of lists and maps that our file uses.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export type Variables = Readonly<Record<string, string | undefined>>

export interface ComposeService {
  image: string
  command?: string[]
  environment?: Record<string, string>
  secrets?: string[]
  ports?: string[]
  volumes?: string[]
  networks: string[] | Record<string, { ipv4_address?: string }>
  depends_on?: Record<string, { condition: string }>
  deploy: { replicas?: number; resources: { limits: { memory: string } } }
  healthcheck: { test?: string[]; disable?: boolean }
  restart: string
  read_only: boolean
  user: string
  cap_drop: string[]
  cap_add?: string[]
  privileged?: boolean
  security_opt: string[]
  logging: { driver: string; options: Record<string, string> }
  pids_limit: number
  build?: { context: string; dockerfile: string }
}

export interface Compose {
  services: Record<string, ComposeService>
  secrets: Record<string, { file: string }>
  networks: Record<string, { internal?: boolean; ipam?: { config: { subnet: string }[] } }>
  volumes: Record<string, object>
}

export const COMPOSE_FILE = join(import.meta.dirname, 'compose.yaml')

export function readCompose(variables: Variables, text = readFileSync(COMPOSE_FILE, 'utf8')): Compose {
  return interpolate(parse(text, { merge: true }), variables) as Compose
}

const REFERENCE = /\$(?:(\$)|\{(\w+)(?:(:?)([-?])([^}]*))?\})/g

function interpolate(value: unknown, variables: Variables): unknown {
  if (Array.isArray(value)) return value.map((item) => interpolate(item, variables))
  if (value && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, interpolate(item, variables)]),
    )
  }
  if (typeof value !== 'string') return value
  return value.replace(REFERENCE, (_, dollar, name, colon, operator, other) => {
    if (dollar) return '$'
    const given = variables[name]
    if (given !== undefined && !(colon && given === '')) return given
    if (operator === '?') throw new Error(`set ${name} in deploy/.env: ${other}`)
    return other ?? ''
  })
}
