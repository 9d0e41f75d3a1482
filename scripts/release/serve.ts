// Serves our packages as they would be published, beside everybody else's: npm install and npm create work before a release as after it.
import { execFileSync } from 'node:child_process'
import { root } from './packages.ts'
import { packedPackages } from './packed.ts'
import { startRegistry } from './registry.ts'

const PORT = 8086

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0))

const folder = await packedPackages()
const upstream = execFileSync('npm', ['config', 'get', 'registry'], { cwd: root, encoding: 'utf8' }).trim()
const { url } = await startRegistry({ folder, upstream, port: PORT + Number(process.env.PORT_OFFSET ?? 0) })
console.log(`packages ready: in another terminal
  export npm_config_registry=${url}
Ctrl-C ends it.`)
