// Runs the programs of compose.yaml on this machine without containers, with the environment that the file gives them, against a local
// chain and Postgres. Addresses of containers become ports of this machine; secrets become files in a folder.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@referrer/net/free-port'
import { type Compose, type ComposeService, readCompose } from './compose.ts'
import { parseDockerfile } from './dockerfile.ts'

const REPOSITORY = join(import.meta.dirname, '..')
const HERE = '127.0.0.1'
const LOOK_MS = 100
/** What does not stay up after half a minute of attempts is given up. */
const MOST_RESTARTS = 8

export interface Options {
  /** What the file .env would set. */
  variables: Readonly<Record<string, string>>
  /** What the secrets of compose.yaml hold, by name. */
  secrets: Readonly<Record<string, string>>
  /** The folder that /app stands for, and the Node that runs it; left out: the repository. */
  app?: string
  node?: string
  /** Put before every command, such as what takes rights away. */
  prefix?: readonly string[]
  /** In place of what compose.yaml gives our programs. */
  environment?: Readonly<Record<string, string>>
  onLine?: (program: string, line: string) => void
}

export interface Program {
  /** `api 2` */
  name: string
  service: string
  url: string
  metricsUrl: string
  environment: Readonly<Record<string, string>>
  /** The exit status, once it has ended for good. */
  ended: Promise<number | null>
  /** Tells it to end, as compose does. */
  stop(): void
  /** Whether the health check of compose.yaml is content. */
  isHealthy(): Promise<boolean>
}

export interface Cluster {
  programs: readonly Program[]
  /** Ends all of them as compose does, and returns their exit statuses by name. */
  stop(): Promise<Record<string, number | null>>
}

/** Resolves when all programs are up and healthy. */
export async function runCompose(options: Options): Promise<Cluster> {
  const { app = REPOSITORY, node = process.execPath, prefix = [], onLine = () => {} } = options
  const compose = readCompose(options.variables)
  const image = readImage()
  const folder = writeSecrets(compose, options.secrets)
  const inImage = (part: string) =>
    part.replace(/^\/usr\/local\/bin\/node$/, node).replace(/^\/app\//, `${app}/`)
  const addresses = await giveAddresses(compose)
  const programs: Program[] = []

  const stop = async () => {
    for (const program of programs) program.stop()
    const ends = await Promise.all(programs.map(async ({ name, ended }) => [name, await ended] as const))
    rmSync(folder, { recursive: true, force: true })
    return Object.fromEntries(ends)
  }

  function start(name: string, service: string, address: Address): Program {
    const {
      command = [],
      environment: given = {},
      healthcheck,
      restart,
    } = compose.services[service] as ComposeService
    const environment: Record<string, string> = {
      ...image.environment,
      ...resolve(given, compose, addresses, folder),
      HOST: HERE,
      METRICS_HOST: HERE,
      PORT: String(address.port),
      METRICS_PORT: String(address.metricsPort),
      ...options.environment,
    }
    const run = (parts: readonly string[]) => {
      const [file = '', ...args] = [...prefix, ...parts.map(inImage)]
      return spawn(file, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    }
    let child: ChildProcess | undefined
    let isStopping = false
    /** Started again as Docker does: soon at first, then after twice as long each time. */
    const keepRunning = async () => {
      for (let attempt = 0; ; attempt += 1) {
        child = run([...image.entrypoint, ...command])
        for (const input of [child.stdout, child.stderr]) {
          if (input) createInterface({ input }).on('line', (line) => onLine(name, line))
        }
        const [code] = (await once(child, 'close')) as [number | null]
        if (isStopping || restart === 'no' || attempt === MOST_RESTARTS) return code
        await sleep(100 * 2 ** attempt)
        if (isStopping) return code
      }
    }
    const ended = keepRunning()
    return {
      name,
      service,
      url: `http://${HERE}:${address.port}`,
      metricsUrl: `http://${HERE}:${environment.METRICS_PORT || address.port}`,
      environment,
      ended,
      stop() {
        isStopping = true
        child?.kill('SIGTERM')
      },
      async isHealthy() {
        const [, ...check] = healthcheck.test ?? []
        const [code] = await once(run(check), 'close')
        return code === 0
      },
    }
  }

  try {
    for (const service of inOrder(compose)) {
      const replicas = addresses.get(service) ?? []
      const started = replicas.map((address, at) =>
        start(replicas.length > 1 ? `${service} ${at + 1}` : service, service, address),
      )
      if (isAwaited(service, compose)) {
        for (const { name, ended } of started) {
          const code = await ended
          if (code !== 0) throw new Error(`${name} ended with status ${code}`)
        }
      } else programs.push(...started)
    }
    await Promise.all(programs.map(whenHealthy))
    return { programs, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The health check is a process of its own, so it is run once, when it should be content. */
async function whenHealthy({ name, ended, metricsUrl, isHealthy }: Program): Promise<void> {
  let status: number | null | undefined
  void ended.then((code) => {
    status = code
  })
  for (;;) {
    const answer = await fetch(`${metricsUrl}/readyz`).catch(() => undefined)
    await answer?.text()
    if (answer?.ok && (await isHealthy())) return
    if (status !== undefined) throw new Error(`${name} ended with status ${status}`)
    await sleep(LOOK_MS)
  }
}

/** What the image adds: how a program is started, and with which environment. */
function readImage(): { entrypoint: string[]; environment: Record<string, string> } {
  const { instructions = [] } =
    parseDockerfile(readFileSync(join(import.meta.dirname, 'Dockerfile'), 'utf8')).at(-1) ?? {}
  const text = (name: string) => instructions.find((instruction) => instruction.name === name)?.text ?? ''
  const pairs = [...text('ENV').matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value])
  return { entrypoint: JSON.parse(text('ENTRYPOINT')), environment: Object.fromEntries(pairs) }
}

function writeSecrets({ secrets }: Compose, values: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'referrer-secrets-'))
  // As docs/installing.md has it: whoever runs the programs may be another user.
  chmodSync(folder, 0o711)
  for (const [name, { file }] of Object.entries(secrets)) {
    const value = values[name]
    if (value !== undefined) writeFileSync(join(folder, basename(file)), value, { mode: 0o444 })
  }
  return folder
}

interface Address {
  port: number
  metricsPort: number
}

/** Our own programs, each replica with ports of its own. */
async function giveAddresses({ services }: Compose): Promise<Map<string, Address[]>> {
  const addresses = new Map<string, Address[]>()
  for (const [name, { build, deploy }] of Object.entries(services)) {
    if (!build) continue
    const replicas = Array.from({ length: deploy.replicas ?? 1 }, async () => ({
      port: await freePort(),
      metricsPort: await freePort(),
    }))
    addresses.set(name, await Promise.all(replicas))
  }
  return addresses
}

/** An environment as it is without containers. */
function resolve(
  environment: Readonly<Record<string, string>>,
  { services, secrets }: Compose,
  addresses: Map<string, Address[]>,
  folder: string,
): Record<string, string> {
  const { front } = (services.proxy?.networks ?? {}) as Record<string, { ipv4_address?: string }>
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => {
      const secret = secrets[/^\/run\/secrets\/(\w+)$/.exec(value)?.[1] ?? '']
      if (secret) return [name, join(folder, basename(secret.file))]
      if (value === front?.ipv4_address) return [name, HERE]
      const host = /^http:\/\/(\w+):8080$/.exec(value)?.[1]
      const [first] = addresses.get(host ?? '') ?? []
      return [name, first ? `http://${HERE}:${first.port}` : value]
    }),
  )
}

/** Our programs, each after those that it depends on. */
function inOrder({ services }: Compose): string[] {
  const order = new Set<string>()
  const add = (name: string) => {
    for (const other of Object.keys(services[name]?.depends_on ?? {})) add(other)
    if (services[name]?.build) order.add(name)
  }
  for (const name of Object.keys(services)) add(name)
  return [...order]
}

const isAwaited = (service: string, { services }: Compose) =>
  Object.values(services).some(
    ({ depends_on }) => depends_on?.[service]?.condition === 'service_completed_successfully',
  )
