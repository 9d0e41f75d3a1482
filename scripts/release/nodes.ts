// The versions of Node that the packages are tried on. npm has them as packages: they are fetched once and kept.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { npm } from '../npm.mjs'
import { root } from './packages.ts'

export interface Runtime {
  version: string
  /** Its program. */
  path: string
}

/** The oldest one that the manifests promise, and the newest of the line after it. */
const FETCHED = ['20.18.0', '22.23.3']
const PACKAGE = `node-${process.platform}-${process.arch}`
const CACHE = join(root, 'node_modules/.cache/referrer-nodes')

/** Oldest first; the running one is the last. Where npm carries no Node for the platform, it is the only one. */
export async function runtimes(): Promise<Runtime[]> {
  const running = { version: process.versions.node, path: process.execPath }
  if (process.platform !== 'linux') return [running]
  const fetched: Runtime[] = []
  for (const version of FETCHED) fetched.push({ version, path: await fetchNode(version) })
  return [...fetched, running]
}

async function fetchNode(version: string): Promise<string> {
  const folder = join(CACHE, version)
  const path = join(folder, 'node_modules', PACKAGE, 'bin/node')
  if (existsSync(path)) return path
  // An interrupted download must not pass for a whole one.
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  writeFileSync(
    join(draft, 'package.json'),
    JSON.stringify({ private: true, dependencies: { [PACKAGE]: version } }),
  )
  try {
    await npm(process.execPath, `Fetching Node ${version} (once)`, draft, ['install'])
    mkdirSync(dirname(folder), { recursive: true })
    if (!existsSync(folder)) renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return path
}
