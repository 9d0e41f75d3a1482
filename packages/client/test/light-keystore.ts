import { readFileSync, writeFileSync } from 'node:fs'
import { Keystore } from 'ox'
import { readKeystore } from '../src/keystore.ts'

/** Encrypts the key of a file anew for next to no work, as wallets may: a test that opens it many times waits a second for the first only. */
export async function lighten(path: string, password: string): Promise<void> {
  const privateKey = await readKeystore(path, password)
  const [key, options] = Keystore.scrypt({ password, n: 2 })
  const { address } = JSON.parse(readFileSync(path, 'utf8'))
  // The file keeps its mode.
  writeFileSync(path, JSON.stringify({ ...Keystore.encrypt(privateKey, key, options), address }))
}
