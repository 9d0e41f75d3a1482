// Runs the proxy of compose.yaml on this machine: the same files, with other ports and folders.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { read } from './files.ts'

export const HOSTS = { MARKET_HOST: 'market.test', PAY_HOST: 'pay.test' }
/** `http2 on` came with 1.25.1, `resolve` in upstreams with 1.27.3. */
const OLDEST = [1, 27, 3]

/** The nginx of this machine, or that which TEST_NGINX names; undefined if there is none, or an old one. */
export function findNginx(): string | undefined {
  const program = process.env.TEST_NGINX ?? 'nginx'
  const { stderr } = spawnSync(program, ['-v'], { encoding: 'utf8' })
  const version = /nginx\/(\d+)\.(\d+)\.(\d+)/
    .exec(stderr ?? '')
    ?.slice(1)
    .map(Number)
  const at = version?.findIndex((part, index) => part !== OLDEST[index]) ?? -1
  if (!version || (at >= 0 && (version[at] as number) < (OLDEST[at] as number))) return undefined
  return program
}

export interface Ports {
  http: number
  https: number
  /** Two replicas. */
  market: readonly [number, number]
  pay: number
}

/** Writes the files of the proxy into a folder, and returns it; with the upstreams of this machine, or those of compose.yaml. */
function writeFiles({ http, https, market, pay }: Ports, areLocal: boolean): string {
  const folder = mkdtempSync(join(tmpdir(), 'referrer-proxy-'))
  chmodSync(folder, 0o755)
  const write = (name: string, text: string) => {
    const own = text
      .replaceAll(' /tmp/', ` ${folder}/`)
      .replaceAll('/etc/nginx/', `${folder}/`)
      .replaceAll('/run/secrets/', `${folder}/`)
      .replaceAll('/var/www/acme', `${folder}/acme`)
      .replaceAll('/dev/stdout', `${folder}/access.log`)
      .replaceAll('/dev/stderr', `${folder}/error.log`)
    writeFileSync(join(folder, name), own)
  }
  mkdirSync(join(folder, 'conf.d'))
  mkdirSync(join(folder, 'acme/.well-known/acme-challenge'), { recursive: true })
  writeFileSync(join(folder, 'acme/.well-known/acme-challenge/token'), 'challenge')
  write('nginx.conf', `daemon off;\n${read('proxy/nginx.conf')}`)
  write('forward.conf', read('proxy/forward.conf'))
  const upstreams = read('proxy/upstreams.local.conf')
    .replace('127.0.0.1:8080', `127.0.0.1:${market[0]}`)
    .replace('127.0.0.1:8090', `127.0.0.1:${market[1]}`)
    .replace('127.0.0.1:8081', `127.0.0.1:${pay}`)
  write('upstreams.conf', areLocal ? upstreams : read('proxy/upstreams.conf'))
  const template = read('proxy/templates/market.conf.template')
    .replace(/\$\{(MARKET_HOST|PAY_HOST)\}/g, (_, name: keyof typeof HOSTS) => HOSTS[name])
    .replaceAll('listen 8080', `listen 127.0.0.1:${http}`)
    .replaceAll('listen 8443', `listen 127.0.0.1:${https}`)
  write('conf.d/market.conf', template)
  execFileSync(
    'openssl',
    // biome-ignore format: one option and its value on a line
    [
      'req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-days', '2',
      '-subj', `/CN=${HOSTS.MARKET_HOST}`,
      '-addext', `subjectAltName=DNS:${HOSTS.MARKET_HOST},DNS:${HOSTS.PAY_HOST}`,
      '-keyout', join(folder, 'tls_key'),
      '-out', join(folder, 'tls_certificate'),
    ],
    { stdio: 'pipe' },
  )
  return folder
}

/** What `nginx -t` says of the files as compose.yaml mounts them. */
export function checkFiles(program: string, ports: Ports): { status: number | null; said: string } {
  const folder = writeFiles(ports, false)
  try {
    const { status, stderr } = spawnSync(
      program,
      ['-t', '-q', '-c', join(folder, 'nginx.conf'), '-p', folder],
      {
        encoding: 'utf8',
      },
    )
    return { status, said: stderr }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export interface RunningProxy {
  certificate: Buffer
  stop(): Promise<void>
}

export async function startProxy(program: string, ports: Ports): Promise<RunningProxy> {
  const folder = writeFiles(ports, true)
  const child = spawn(program, ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'inherit' })
  const ended = once(child, 'exit')
  while (!(await accepts(ports.https))) {
    if (child.exitCode !== null) throw new Error(`nginx did not start, for the reason above`)
    await sleep(20)
  }
  return {
    certificate: readFileSync(join(folder, 'tls_certificate')),
    async stop() {
      child.kill('SIGQUIT')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy())
  })
