// node scripts/run.mjs <file> [args]: runs a .ts (or .js) file under the product's Node, as if it had been started itself.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { delimiter, dirname } from 'node:path'
import { OLDEST_RUNTIME, runtimePath } from './runtime.mjs'

const [file, ...args] = process.argv.slice(2)
if (!file) fail('usage: node scripts/run.mjs <file> [args]')

const node = runtimePath()
if (!node) fail(`Node ${OLDEST_RUNTIME} is not here yet: run \`node scripts/bootstrap.mjs\` first.`)

const child = spawn(node, [file, ...args], {
  stdio: 'inherit',
  env: { ...process.env, PATH: dirname(node) + delimiter + (process.env.PATH ?? '') },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => fail(`cannot start ${node}: ${error.message}`))
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))

function fail(message) {
  console.error(message)
  process.exit(1)
}
