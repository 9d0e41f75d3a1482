// Runs npm under a given Node, quietly: its output is shown only when it fails.
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { progress } from './progress.mjs'

const FLAGS = [
  '--include=dev',
  '--include=optional',
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
  '--no-progress',
  '--no-update-notifier',
  '--fetch-retries=3',
  '--fetch-retry-factor=3',
  '--fetch-retry-mintimeout=1000',
]
const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/

// If this process is killed, npm ends too: it must not write into node_modules while the next install does.
const END_WITH_PARENT =
  "data:text/javascript,process.on('disconnect',()=>process.exit(1));process.channel.unref()"

export async function npm(node, label, folder, args) {
  const done = progress(label)
  const { code, output } = await run(
    node,
    ['--import', END_WITH_PARENT, npmCli(), ...args, '--prefix', folder, ...FLAGS],
    {
      cwd: folder,
      env: { ...process.env, ...headers(node), PATH: dirname(node) + delimiter + (process.env.PATH ?? '') },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  )
  done(code === 0 ? 'done' : 'failed')
  if (code === 0) return
  const unreachable = output.match(UNREACHABLE)?.[0]
  if (!unreachable) process.stderr.write(output)
  const advice = unreachable
    ? `The package registry cannot be reached (${unreachable}): check the network and npm's registry and proxy settings, then run this again.`
    : 'npm could not install the packages; its output is above. Solve that, then run this again.'
  throw Object.assign(new Error(advice), { advice })
}

function run(command, args, options) {
  return new Promise((resolve) => {
    let output = ''
    const child = spawn(command, args, options)
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ code: 1, output: `cannot start ${command}: ${error.message}\n` }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/** The pinned Node brings its C headers: an addon without a prebuilt binary is compiled against these. */
function headers(node) {
  const folder = dirname(dirname(node))
  return existsSync(join(folder, 'include', 'node', 'node.h')) ? { npm_config_nodedir: folder } : {}
}

function npmCli() {
  const candidates = [
    process.env.npm_execpath ?? '',
    ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'npm')),
    join(dirname(process.execPath), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ]
  const found = candidates
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
    .find((path) => path.endsWith('npm-cli.js'))
  if (found) return found
  const advice = 'npm is not on PATH: install it (it comes with Node) and run this again.'
  throw Object.assign(new Error(advice), { advice })
}
