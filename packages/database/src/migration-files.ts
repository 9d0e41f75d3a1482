import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { DatabaseError } from './errors.ts'

export interface MigrationSet {
  name: string
  directory: URL
}

export interface Migration {
  set: string
  number: number
  /** `<set>/<file>`, for messages. */
  name: string
  sha256: string
  text: string
  kind: MigrationKind
  /** One line that says what it changes; empty in files from before there were kinds. */
  about: string
}

/**
 * `expand`: the version before goes on working on the migrated database. `contract`: it does not, and has to be stopped first. The first line
 * of a file says it: `-- expand: what it changes`. A file without such a line is a contract.
 */
export type MigrationKind = 'expand' | 'contract'

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/
const KIND = /^-- (expand|contract): (\S.*)/
const OWN_TRANSACTION = /^\s*(begin|start\s+transaction|commit|end|rollback)\s*;/im

/** The files of a set in order: 0001_…, 0002_…, none missing, none twice. */
export async function readMigrations(set: MigrationSet): Promise<Migration[]> {
  const directory = set.directory.href.endsWith('/') ? set.directory : new URL(`${set.directory.href}/`)
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file, index) => {
      const name = `${set.name}/${file}`
      const number = Number(FILE_NAME.exec(file)?.[1])
      if (number !== index + 1) {
        const expected = String(index + 1).padStart(4, '0')
        throw new DatabaseError(
          `Migration ${name} should be ${expected}_name.sql, in lower case: number the files 0001, 0002, … without gaps or doubles.`,
        )
      }
      const text = await readFile(new URL(file, directory), 'utf8')
      if (OWN_TRANSACTION.test(text)) {
        throw new DatabaseError(
          `Migration ${name} begins or ends a transaction: leave that out, each file is one transaction.`,
        )
      }
      const sha256 = createHash('sha256').update(text).digest('hex')
      const [, kind = 'contract', about = ''] = KIND.exec(text) ?? []
      return { set: set.name, number, name, sha256, text, kind: kind as MigrationKind, about }
    }),
  )
}
