import { randomBytes } from 'node:crypto'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { codeOf } from './errors.ts'
import { type Home, startFailure } from './home.ts'
import { exists, run } from './run.ts'

/** Makes Postgres's data directory unless there is one. */
export async function createCluster(
  initdb: string,
  home: Home,
  { user, sync }: { user: string; sync: boolean },
  onProgress: (line: string) => void,
): Promise<void> {
  if (await exists(home.data)) return
  onProgress(`creating a database in ${home.directory}`)
  // Made beside its final name and renamed: a crash leaves no half database, and of two starters one wins.
  const draft = `${home.data}.${randomBytes(6).toString('hex')}.new`
  const { ok, said } = await run(
    initdb,
    [
      ...['-D', draft, '-U', user, '--encoding=UTF8', '--locale=C'],
      ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      // Only its user can enter the socket's directory, so the socket needs no password.
      ...['--auth-local=trust', '--auth-host=reject', '--no-instructions'],
      ...(sync ? [] : ['--no-sync']),
    ],
    { cwd: home.directory, runner: home.runner },
  )
  if (ok) {
    await rename(draft, home.data).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'ENOENT') throw error
    })
    if (sync) await syncDirectory(home.directory)
  }
  const isThere = await exists(home.data)
  await removeDrafts(home, isThere ? /^data\..+\.new$/ : new RegExp(`^${basename(draft)}$`))
  if (!isThere) throw startFailure(said, home)
}

/** Else a power cut could take the new name away, and with it every row that was acknowledged since. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  await directory.sync().finally(() => directory.close())
}

/** Once there is a database, the drafts of crashed and of slower starters are of no use. */
async function removeDrafts(home: Home, which: RegExp): Promise<void> {
  for (const name of await readdir(home.directory)) {
    // A killed starter's initdb may still be writing to its own.
    if (which.test(name))
      await rm(join(home.directory, name), { recursive: true, force: true }).catch(() => {})
  }
}
