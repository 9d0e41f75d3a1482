// A new key: made here and written to a file that only its owner reads, or one that a remote signer has.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Hex, isHex, size } from 'viem'
import { CommandFailed } from '../../command.ts'

const OWNER_ONLY = 0o600

/** Reads 32 bytes as 0x and 64 hex digits; makes the file if it is not there. `isMade`: it was not. */
export function keyInFile(path: string, isDryRun: boolean): { key: Hex; isMade: boolean } | undefined {
  if (!existsSync(path)) {
    if (isDryRun) return undefined
    const key: Hex = `0x${randomBytes(32).toString('hex')}`
    // `wx`: whoever made a file of this name meanwhile keeps it.
    writeFileSync(path, `${key}\n`, { mode: OWNER_ONLY, flag: 'wx' })
    return { key, isMade: true }
  }
  const key = readFileSync(path, 'utf8').trim()
  if (isHex(key) && size(key) === 32) return { key, isMade: false }
  throw new CommandFailed(`${path} holds no key: 0x and 64 hex digits; name another file`)
}
