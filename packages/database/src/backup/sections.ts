// The form of a backup file: a line that says what it is, a zstd stream of sections, and the SHA-256 of all bytes before it. A section is
// a letter, a length of four bytes, and as many bytes.

import type { Columns } from '../copy.ts'
import type { Sequence } from './catalogue.ts'
import type { Sum } from './digest.ts'

export const FORMAT = 1
export const firstLine = (format: number) => `referrer backup ${format}\n`

export const SEAL = 'sha256'
export const SEAL_LENGTH = 32

/** What stands before the tables. */
export interface Header {
  takenAt: string
  /** The version of the server. */
  postgres: string
  /** What had been applied to the database. */
  migrations: { set: string; number: number; name: string; sha256: string }[]
}

/** What stands after them: a file without it was cut. */
export interface Manifest {
  tables: ({ table: string } & Sum)[]
  sequences: Sequence[]
}

export type Section =
  | { kind: 'header'; header: Header }
  | { kind: 'table'; columns: Columns }
  | { kind: 'rows'; rows: Buffer }
  | { kind: 'manifest'; manifest: Manifest }

export const LETTERS = { header: 'H', table: 'T', rows: 'R', manifest: 'M' } as const

/** Far more than any section that we write: a greater length is damage. */
export const LONGEST = 4 * 1_048_576
