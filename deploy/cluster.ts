// `node scripts/run.mjs deploy/cluster.ts`: the programs of compose.yaml on this machine, with a local chain and an embedded Postgres, until
// Ctrl-C. With `--tree <folder>` those of an image's tree (image-tree.ts), which is then read-only, as an unprivileged user; needs root.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connect, startPostgres } from '@referrer/database'
import { startLocalMarket } from './local-market.ts'
import { type Options, runCompose } from './run.ts'

const { values } = parseArgs({ options: { tree: { type: 'string' }, help: { type: 'boolean' } } })
if (values.help) {
  console.log(`Runs the programs of deploy/compose.yaml without containers, on a local chain and an embedded Postgres. Ctrl-C ends it.

Usage: npm run cluster [-- --tree <folder>]

  --tree <folder>  run what deploy/image-tree.ts has made, read-only, as the user of the image; needs root`)
  process.exit(0)
}

/** As the image is run: nothing can be written, no rights, the user of the Dockerfile. */
const fromTree = (tree: string): Partial<Options> => ({
  app: join(tree, 'app'),
  node: join(tree, 'usr/local/bin/node'),
  // biome-ignore format: one option and its value on a line
  prefix: [
    'unshare', '--mount', 'sh', '-ec',
    `mount --bind ${tree} ${tree} && mount -o remount,bind,ro ${tree} && cd /
     exec setpriv --reuid=65532 --regid=65532 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs "$@"`,
    'sh',
  ],
})

const ends: (() => unknown)[] = []
// A signal during the start waits for it: nothing is left behind.
const told = new Promise<void>((resolve) => {
  // One Ctrl-C can arrive several times: from the terminal, from npm and from the runner.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => resolve())
})
try {
  const directory = mkdtempSync(join(tmpdir(), 'referrer-cluster-'))
  ends.push(() => rmSync(directory, { recursive: true, force: true }))
  // Postgres does not run as root; whoever runs it has to come by.
  chmodSync(directory, 0o711)
  const postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    // Its socket is its user's alone otherwise; the programs of a tree are another user.
    settings: values.tree ? { unix_socket_permissions: '0777' } : {},
  })
  ends.push(() => postgres.stop())
  if (values.tree) for (const place of ['.', 'socket']) chmodSync(join(directory, 'postgres', place), 0o711)
  const { chain, secrets, variables } = await startLocalMarket(await makeDatabases(postgres.url))
  ends.push(() => chain.close())
  const cluster = await runCompose({
    secrets,
    variables,
    ...(values.tree && fromTree(values.tree)),
    onLine: (program, line) => console.log(`${program.padEnd(12)} ${line}`),
  })
  ends.push(async () => console.log(await cluster.stop()))
  for (const { name, url, metricsUrl } of cluster.programs) {
    console.log(`${name.padEnd(12)} ${url}  ${metricsUrl}/metrics`)
  }
  console.log('cluster ready')
  await told
} finally {
  for (const end of ends.toReversed()) await end()
}

async function makeDatabases(server: string): Promise<{ market: string; facilitator: string }> {
  const admin = connect(server, { max: 1, name: 'referrer cluster' })
  const make = async (name: string) => {
    await admin`create database ${admin(name)}`
    const url = new URL(server)
    url.pathname = `/${name}`
    return url.href
  }
  const databases = { market: await make('market'), facilitator: await make('facilitator') }
  await admin.end()
  return databases
}
