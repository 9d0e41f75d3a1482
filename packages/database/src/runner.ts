import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseError } from './errors.ts'

/** Postgres refuses to run as root: root runs it as somebody else. */
export interface Runner {
  uid: number
  gid: number
}

const SYSTEM_USERS = ['postgres', 'nobody']

/** Who runs the server: we ourselves, or for root whoever owns the place, else a system user. */
export async function chooseRunner(data: string): Promise<Runner | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await ownerOf(data)
  const users = await readUsers()
  if (owner.uid !== 0 && users.some((user) => user.uid === owner.uid)) return owner
  for (const name of SYSTEM_USERS) {
    const user = users.find((candidate) => candidate.name === name)
    if (user) return { uid: user.uid, gid: user.gid }
  }
  throw new DatabaseError(
    'Postgres does not run as root and this machine has no user named postgres or nobody: run as an ordinary user or set DATABASE_URL.',
  )
}

/** The first directory on the way down to `path` that the runner may not enter. */
export async function firstClosedDirectory(path: string, { uid, gid }: Runner): Promise<string | undefined> {
  const parents: string[] = []
  for (let parent = dirname(path); !parents.includes(parent); parent = dirname(parent))
    parents.unshift(parent)
  for (const parent of parents) {
    const { mode, uid: owner, gid: group } = await stat(parent)
    const mayEnter = owner === uid ? mode & 0o100 : group === gid ? mode & 0o010 : mode & 0o001
    if (!mayEnter) return parent
  }
  return undefined
}

async function ownerOf(path: string): Promise<Runner> {
  try {
    const { uid, gid } = await stat(path)
    return { uid, gid }
  } catch {
    return path === dirname(path) ? { uid: 0, gid: 0 } : ownerOf(dirname(path))
  }
}

async function readUsers(): Promise<{ name: string; uid: number; gid: number }[]> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n')
  return lines.map((line) => {
    const [name = '', , uid, gid] = line.split(':')
    return { name, uid: Number(uid), gid: Number(gid) }
  })
}
