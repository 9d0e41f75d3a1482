// Private keys in encrypted files, in the format that Ethereum's wallets share (Web3 Secret Storage, version 3). For Node only.
import { randomBytes, scrypt as scryptCallback } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { Keystore } from 'ox'
import { type Address, bytesToHex, type Hex, hexToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** The file is no keystore, or the password is not its password; the message says which. */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError'
}

const scrypt = promisify<
  string,
  Uint8Array,
  number,
  { N: number; r: number; p: number; maxmem: number },
  Buffer
>(scryptCallback)
/** The cost that geth uses: about a second, and 256 MiB. */
const COST = { n: 262_144, r: 8, p: 1, dklen: 32 }
/** What a file may ask of us: twice the memory of the usual cost. */
const MOST_MEMORY = 512 * 1024 * 1024

/** Writes a new file that its owner alone can read. A file that is there is never overwritten. */
export async function writeKeystore(path: string, privateKey: Hex, password: string): Promise<Address> {
  const { address } = privateKeyToAccount(privateKey)
  const salt = randomBytes(32)
  const key = await derive(password, salt, COST)
  const kdfparams = { ...COST, salt: bytesToHex(salt).slice(2) }
  const keystore = Keystore.encrypt(privateKey, key, { kdf: 'scrypt', kdfparams, iv: randomBytes(16) })
  writeOnce(path, `${JSON.stringify({ ...keystore, address: address.slice(2).toLowerCase() }, null, 2)}\n`)
  return address
}

/** The private key in a file. */
export async function readKeystore(path: string, password: string): Promise<Hex> {
  const keystore = parse(path)
  const { kdfparams } = keystore.crypto
  const key =
    'n' in kdfparams
      ? await derive(password, hexToBytes(`0x${kdfparams.salt}`), kdfparams)
      : await Keystore.toKeyAsync(keystore, { password })
  try {
    return Keystore.decrypt(keystore, key)
  } catch {
    throw new KeystoreError(`the password does not open ${path}`)
  }
}

/** Whose key a file holds, without its password; undefined where the file does not say. */
export function addressIn(path: string): Address | undefined {
  const { address } = parse(path) as { address?: unknown }
  const digits = typeof address === 'string' ? /^(?:0x)?([0-9a-fA-F]{40})$/.exec(address)?.[1] : undefined
  return digits ? `0x${digits}` : undefined
}

function parse(path: string): Keystore.Keystore {
  let keystore: Partial<Keystore.Keystore>
  try {
    keystore = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new KeystoreError(`there is no key in ${path}`)
    throw new KeystoreError(`${path} is no keystore: it is not JSON`)
  }
  const { crypto, version } = keystore
  const isKnown = version === 3 && crypto?.cipher === 'aes-128-ctr' && /^(scrypt|pbkdf2)$/.test(crypto.kdf)
  if (!isKnown) throw new KeystoreError(`${path} is no keystore of version 3`)
  return keystore as Keystore.Keystore
}

async function derive(
  password: string,
  salt: Uint8Array,
  { n, r, p, dklen }: { n: number; r: number; p: number; dklen: number },
): Promise<Hex> {
  const derived = await scrypt(password, salt, dklen, { N: n, r, p, maxmem: MOST_MEMORY }).catch(() => {
    throw new KeystoreError('the key derivation of the keystore asks for more memory than we give')
  })
  return bytesToHex(derived)
}

/** By a link to a file that is already on the disk: a crash leaves all of it or nothing. */
function writeOnce(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}.new`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new KeystoreError(`${path} is there already`)
    throw error
  } finally {
    closeSync(file)
    unlinkSync(draft)
  }
}
