// Private keys in encrypted files, in the format that Ethereum's wallets share (Web3 Secret Storage, version 3). For Node only.
import { pbkdf2 as pbkdf2Callback, randomBytes, scrypt as scryptCallback } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { Keystore } from 'ox'
import { type Address, bytesToHex, getAddress, type Hex, hexToBytes, isHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/**
 * The file is no keystore, or the password is not its password; the message says which.
 *
 * @example
 * ```ts
 * import { KeystoreError, readKeystore } from '@referrer/client/keystore'
 *
 * const error = await readKeystore('/nowhere/agent.json', 'secret').catch((thrown) => thrown)
 * error instanceof KeystoreError // → true
 * error.message // → 'there is no key in /nowhere/agent.json'
 * ```
 */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError'
}

interface ScryptCost {
  n: number
  r: number
  p: number
}

const scrypt = promisify<
  string,
  Uint8Array,
  number,
  { N: number; r: number; p: number; maxmem: number },
  Buffer
>(scryptCallback)
const pbkdf2 = promisify(pbkdf2Callback)
/** The cost that geth uses: about a second, and 256 MiB. */
const COST: ScryptCost = { n: 262_144, r: 8, p: 1 }
/** That of geth's `--lightkdf`: a tenth of the work, and 4 MiB. */
const LIGHT_COST: ScryptCost = { n: 4_096, r: 8, p: 6 }
const KEY_BYTES = 32
/** What a file may ask of us: four times the usual work, with twice the usual memory. */
const MOST_WORK = 4 * COST.n * COST.r * COST.p
const MOST_MEMORY = 512 * 1024 * 1024
/** Wallets use between ten thousand and a million. */
const MOST_ITERATIONS = 5_000_000

export interface WriteKeystoreOptions {
  /** A tenth of the usual work to open the file, and to try a password on it: where memory is scarce, or the key is worth little. */
  isLight?: boolean
}

/**
 * Writes a new file that its owner alone can read. A file that is there is never overwritten.
 *
 * @example
 * ```ts
 * import { addressIn, readKeystore, writeKeystore, type WriteKeystoreOptions } from '@referrer/client/keystore'
 * import { generatePrivateKey } from 'viem/accounts'
 *
 * declare const path: string
 * declare const password: string
 * const ofPlayMoney: WriteKeystoreOptions = { isLight: true }
 * const address = await writeKeystore(path, generatePrivateKey(), password, ofPlayMoney)
 * export const isSame = addressIn(path) === address
 * export const privateKey = await readKeystore(path, password)
 * ```
 */
export async function writeKeystore(
  path: string,
  privateKey: Hex,
  password: string,
  { isLight = false }: WriteKeystoreOptions = {},
): Promise<Address> {
  const { address } = privateKeyToAccount(privateKey)
  const salt = randomBytes(32)
  const cost = isLight ? LIGHT_COST : COST
  const key = await deriveByScrypt(password, salt, cost)
  const kdfparams = { ...cost, dklen: KEY_BYTES, salt: salt.toString('hex') }
  const keystore = Keystore.encrypt(privateKey, key, { kdf: 'scrypt', kdfparams, iv: randomBytes(16) })
  writeOnce(path, `${JSON.stringify({ ...keystore, address: address.slice(2).toLowerCase() }, null, 2)}\n`)
  return address
}

/**
 * The private key in a file.
 *
 * @example
 * ```ts
 * import { readKeystore } from '@referrer/client/keystore'
 * import { privateKeyToAccount } from 'viem/accounts'
 *
 * declare const password: string
 * export const account = privateKeyToAccount(await readKeystore('agent.json', password))
 * ```
 */
export async function readKeystore(path: string, password: string): Promise<Hex> {
  const keystore = parse(path)
  const key = await derive(path, keystore.crypto, password)
  let privateKey: Hex
  try {
    privateKey = Keystore.decrypt(keystore, key)
  } catch {
    throw new KeystoreError(`the password does not open ${path}`)
  }
  const said = addressOf(keystore)
  if (said && privateKeyToAccount(privateKey).address !== said) {
    throw new KeystoreError(`the key in ${path} is not that of ${said}, as the file says: do not use it`)
  }
  return privateKey
}

/**
 * Whose key a file holds, without its password; undefined where the file does not say. Only the password shows whether that is true.
 *
 * @example
 * ```ts
 * import { addressIn } from '@referrer/client/keystore'
 *
 * declare const path: string
 * export const toFund = addressIn(path) ?? 'unlock it first'
 * ```
 */
export function addressIn(path: string): Address | undefined {
  return addressOf(parse(path))
}

type Stored = Keystore.Keystore & { address?: unknown }

function addressOf({ address }: Stored): Address | undefined {
  const digits = typeof address === 'string' ? /^(?:0x)?([0-9a-fA-F]{40})$/.exec(address)?.[1] : undefined
  return digits ? getAddress(`0x${digits.toLowerCase()}`) : undefined
}

function parse(path: string): Stored {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new KeystoreError(
      code === 'ENOENT' ? `there is no key in ${path}` : `${path} cannot be read: ${message}`,
    )
  }
  let keystore: Partial<Stored> & { Crypto?: Stored['crypto'] }
  try {
    keystore = Object(JSON.parse(text))
  } catch {
    throw new KeystoreError(`${path} is no keystore: it is not JSON`)
  }
  // Old wallets and ethers write it with a capital.
  const crypto = Object(keystore.crypto ?? keystore.Crypto) as Partial<Stored['crypto']>
  const isWhole =
    keystore.version === 3 &&
    crypto.cipher === 'aes-128-ctr' &&
    isHexOf(crypto.ciphertext, KEY_BYTES) &&
    isHexOf(crypto.cipherparams?.iv, 16) &&
    isHexOf(crypto.mac, 32)
  if (!isWhole) throw new KeystoreError(`${path} is no keystore of version 3`)
  return { ...keystore, crypto } as Stored
}

const isHexOf = (value: unknown, bytes: number): boolean =>
  typeof value === 'string' && value.length === 2 * bytes && isHex(`0x${value}`)

/** The file's parameters are a stranger's: they must not cost us hours, nor all memory. */
async function derive(path: string, { kdf, kdfparams }: Stored['crypto'], password: string): Promise<Hex> {
  const { n, r, p, c, dklen, prf, salt } = Object(kdfparams) as Record<string, unknown>
  const isKnown =
    dklen === KEY_BYTES &&
    typeof salt === 'string' &&
    isHex(`0x${salt}`) &&
    salt.length % 2 === 0 &&
    (kdf === 'scrypt' || (kdf === 'pbkdf2' && prf === 'hmac-sha256'))
  if (!isKnown) throw new KeystoreError(`${path} derives its key in a way that is not known here`)
  const bytes = hexToBytes(`0x${salt}`)
  const [cost, most] = kdf === 'scrypt' ? [[n, r, p], MOST_WORK] : [[c], MOST_ITERATIONS]
  if (!cost.every(isCount) || cost.reduce((product, factor) => product * factor, 1) > most) {
    throw new KeystoreError(`${path} asks for more work than any wallet does: do not use it`)
  }
  if (kdf === 'pbkdf2') return bytesToHex(await pbkdf2(password, bytes, c as number, KEY_BYTES, 'sha256'))
  const scryptCost = { n, r, p } as ScryptCost
  if (!isPossible(scryptCost)) {
    throw new KeystoreError(`${path} asks for a key derivation that is not possible here`)
  }
  return deriveByScrypt(password, bytes, scryptCost)
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0

/** Decided here, since OpenSSL would leave its error behind for whatever the thread computes next. */
const isPossible = ({ n, r, p }: ScryptCost) =>
  n > 1 && Number.isInteger(Math.log2(n)) && 128 * r * (n + p + 2) <= MOST_MEMORY

async function deriveByScrypt(password: string, salt: Uint8Array, { n, r, p }: ScryptCost): Promise<Hex> {
  return bytesToHex(await scrypt(password, salt, KEY_BYTES, { N: n, r, p, maxmem: MOST_MEMORY }))
}

/** By a link to a file that is already on the disk: a crash leaves all of it or nothing, and a key that was told of is not lost. */
function writeOnce(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(8).toString('hex')}.new`
  const file = openSync(draft, 'wx', 0o600)
  try {
    // Not writeSync: that one writes a part without an error when the disk is nearly full.
    writeFileSync(file, text)
    fsyncSync(file)
    linkSync(draft, path)
    syncFolder(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new KeystoreError(`${path} is there already`)
    throw error
  } finally {
    closeSync(file)
    unlinkSync(draft)
  }
}

/** The file's name survives a power failure too. */
function syncFolder(path: string): void {
  // Windows cannot sync a folder.
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
