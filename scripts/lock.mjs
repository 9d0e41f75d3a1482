// One install at a time. The holder's process id is in the file and its modification time is a heartbeat, so that
// a lock left by a killed process is seen as such, even when its id has been given to another process.
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const HEARTBEAT_MS = 2_000
const SILENT_MS = 60_000
// npm ends when the process that started it is gone (npm.mjs); this is the time it gets for that.
const ORPHAN_MS = 500

/** Waits for the lock and returns the function that gives it back. onWait is called once if another holds it. */
export async function acquireLock(path, onWait) {
  const own = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
  for (let waited = false; ; ) {
    if (claim(path, own)) break
    const holder = readHolder(path)
    if (holder && isStale(path, holder)) {
      if (remove(path, own, holder)) await delay(ORPHAN_MS)
      continue
    }
    if (holder && !waited) {
      waited = true
      onWait(holder)
    }
    await delay(250)
  }
  const heartbeat = setInterval(() => utimesSync(path, new Date(), new Date()), HEARTBEAT_MS)
  heartbeat.unref()
  return () => {
    clearInterval(heartbeat)
    rmSync(path, { force: true })
  }
}

/** Linking a finished file is atomic: nobody sees a lock without its holder. */
function claim(path, own) {
  writeFileSync(own, String(process.pid))
  try {
    linkSync(own, path)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(own, { force: true })
  }
}

function readHolder(path) {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function isStale(path, holder) {
  const info = statSync(path, { throwIfNoEntry: false })
  if (!info) return false
  if (Date.now() - info.mtimeMs > SILENT_MS) return true
  try {
    process.kill(holder, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

/** Several processes may find the same stale lock: one renames it, and one that has renamed a fresh lock instead puts it back. */
function remove(path, own, holder) {
  try {
    renameSync(path, own)
  } catch {
    return false
  }
  const caught = readHolder(own)
  if (caught !== holder) {
    renameSync(own, path)
    return false
  }
  rmSync(own)
  return true
}
