// The slow half of the bootstrap. npm leaves out optional packages whose `engines` do not match the Node it runs
// under (the chain's native binding among them), so npm itself is run under the product's Node: that one is fetched
// first, into a folder of its own, where nothing npm does to the packages can take it away.
//
// `npm install --no-save` and not `npm ci`: it keeps to the lockfile and leaves it alone too, does not need the
// lockfile to list every foreign platform's binaries, and changes a finished tree in a second. What `npm ci` adds is
// done here: an outdated lockfile is refused, and what an interrupted install left is removed.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acquireLock } from './lock.mjs'
import { npm } from './npm.mjs'
import { majorOf, modules, OLDEST_RUNTIME, pinnedNode, readJson, root } from './runtime.mjs'
import { isInstalled, markInstalled, markInstalling, packageFolders, wasInterrupted } from './stamp.mjs'

const LOCK = join(modules, '.bootstrap-lock')
const RUNTIME = join(modules, '.bootstrap-node')
const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']

/** Brings node_modules up to date and returns the exit code. */
export async function install() {
  const release = await acquireLock(LOCK, (holder) =>
    console.error(`Another install is under way (process ${holder}); waiting for it.`),
  )
  const cleanUp = () => {
    rmSync(RUNTIME, { recursive: true, force: true })
    release()
  }
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ]) {
    process.once(signal, () => {
      cleanUp()
      process.exit(code)
    })
  }
  try {
    if (!isInstalled()) await bringUpToDate()
    return 0
  } catch (error) {
    if (!error.advice) throw error
    console.error(error.advice)
    return 1
  } finally {
    cleanUp()
  }
}

async function bringUpToDate() {
  const lockfile = readJson(join(root, 'package-lock.json'))
  refuseOutdated(lockfile)
  const node = await installerNode(lockfile)
  if (wasInterrupted()) removeModules()
  markInstalling()
  await npm(node, 'Installing packages (only when they change)', root, [
    'install',
    '--no-save',
    '--package-lock',
  ])
  refuseIncomplete(lockfile)
  markInstalled()
}

/** The pinned Node if it is in place and npm will leave it there, else a fresh copy; without one, the running Node. */
async function installerNode(lockfile) {
  const pinned = pinnedNode()
  if (!pinned) {
    if (majorOf(process.versions.node) >= OLDEST_RUNTIME) return process.execPath
    throw advise(
      `Node ${process.versions.node} is too old for ${process.platform} ${process.arch}: ` +
        `install Node ${OLDEST_RUNTIME} or newer from https://nodejs.org and run this again.`,
    )
  }
  const inPlace = join('node_modules', pinned.name)
  if (!wasInterrupted() && versionOf(inPlace) === pinned.version) return join(root, inPlace, 'bin', 'node')
  return fetchNode(pinned, lockfile, RUNTIME)
}

/** Installs the one package from a lockfile of its own, so that its integrity is checked as usual. */
async function fetchNode({ name, version }, lockfile, folder) {
  const path = `node_modules/${name}`
  const manifest = { name: 'runtime', version: '0.0.0', private: true, dependencies: { [name]: version } }
  const { optional: _, ...entry } = lockfile.packages[path]
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const write = (file, content) => writeFileSync(join(folder, file), JSON.stringify(content))
  write('package.json', manifest)
  write('package-lock.json', { ...manifest, lockfileVersion: 3, packages: { '': manifest, [path]: entry } })
  await npm(process.execPath, `Fetching Node ${version}`, folder, ['ci'])
  return join(folder, path, 'bin', 'node')
}

function removeModules() {
  for (const folder of packageFolders()) {
    const path = join(root, folder, 'node_modules')
    if (path !== modules) rmSync(path, { recursive: true, force: true })
  }
  for (const path of readdirSync(modules).map((name) => join(modules, name))) {
    if (path !== LOCK && path !== RUNTIME) rmSync(path, { recursive: true, force: true })
  }
}

function refuseOutdated(lockfile) {
  for (const folder of packageFolders()) {
    const manifest = readJson(join(root, folder, 'package.json'))
    const locked = lockfile.packages[folder]
    const differs = (field) => !sameEntries(manifest[field] ?? {}, locked?.[field] ?? {})
    if (!DEPENDENCIES.some(differs)) continue
    throw advise(
      `package-lock.json is behind ${join(folder, 'package.json')}: run \`npm install\` and commit the lockfile.`,
    )
  }
}

function sameEntries(one, other) {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

/** npm passes over an optional package that it could not get; without this platform's binaries nothing works. */
function refuseIncomplete(lockfile) {
  const missing = Object.entries(lockfile.packages)
    .filter(([, entry]) => (entry.os || entry.cpu) && suits(entry))
    .map(([path]) => path)
    .filter((path) => !versionOf(path))
  if (missing.length === 0) return
  throw advise(
    `npm could not get ${missing.map((path) => path.replace('node_modules/', '')).join(', ')}: run this again.`,
  )
}

function versionOf(path) {
  try {
    return readJson(join(root, path, 'package.json')).version
  } catch {
    return undefined
  }
}

const libcHere = () => (process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl')

function suits({ os, cpu, libc }) {
  return (
    allows(os, process.platform) &&
    allows(cpu, process.arch) &&
    (!libc || process.platform !== 'linux' || allows(libc, libcHere()))
  )
}

/** npm's way: a list of allowed names, or of forbidden ones with a leading `!`; a single name may stand alone. */
function allows(names, value) {
  const list = [names ?? []].flat()
  if (list.includes(`!${value}`)) return false
  return list.every((name) => name.startsWith('!')) || list.includes(value)
}

const advise = (advice) => Object.assign(new Error(advice), { advice })
