// Two keys: the owner's, encrypted, and the server's, which can do little.
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { password as askPassword, isCancel } from '@clack/prompts'
import { writeKeystore } from '@referrer/client/keystore'
import { readOwner, SANDBOX_PASSWORD, ShopError } from '@referrer/merchant/shop'
import { type Address, type Hex, isHex } from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
  privateKeyToAddress,
} from 'viem/accounts'
import { writeOnce } from './files.ts'

export const OWNER_KEY = '.referrer/owner-key.json'
const LEAST_PASSWORD_CHARS = 8

export interface Owner {
  account: PrivateKeyAccount
  /** Writes a key that was made now; false where it was there already. */
  keep(): Promise<boolean>
}

export interface OwnerOptions {
  directory: string
  env: NodeJS.ProcessEnv
  isSandbox: boolean
  isInteractive: boolean
}

/** The key in the folder, or a new one that is not written yet. */
export async function ownerOf({ directory, env, isSandbox, isInteractive }: OwnerOptions): Promise<Owner> {
  const path = join(directory, OWNER_KEY)
  if (existsSync(path)) {
    const ask = isInteractive ? () => asked(`Password of ${path}`) : undefined
    const account = await readOwner({ key: path, directory, env, isSandbox, askPassword: ask })
    return { account, keep: async () => false }
  }
  const isPublic = isSandbox && env.REFERRER_PASSWORD === undefined
  const password = env.REFERRER_PASSWORD ?? (isSandbox ? SANDBOX_PASSWORD : await newPassword(isInteractive))
  if (!isSandbox && password.length < LEAST_PASSWORD_CHARS) {
    throw new ShopError(
      `the password of the owner's key must have at least ${LEAST_PASSWORD_CHARS} characters`,
    )
  }
  const privateKey = generatePrivateKey()
  return {
    account: privateKeyToAccount(privateKey),
    async keep() {
      // What everybody can open need not be costly to open: each command of the shop does.
      await writeKeystore(path, privateKey, password, { isLight: isPublic })
      return true
    },
  }
}

async function newPassword(isInteractive: boolean): Promise<string> {
  if (!isInteractive)
    throw new ShopError("set REFERRER_PASSWORD to a password for the owner's key, and keep it")
  const password = await asked("A password for the owner's key: keep it, nobody can restore it")
  if ((await asked('The same password again')) !== password)
    throw new ShopError('the two passwords differ: try again')
  return password
}

async function asked(message: string): Promise<string> {
  const answer = await askPassword({ message })
  if (isCancel(answer)) throw new ShopError('nothing was made')
  return answer
}

export interface Hot {
  address: Address
  port: number
  isNew: boolean
}

const FIRST_PORT = 3_000

/** The server's key and port, in `.env`: a new one takes the first port that is free. */
export async function hotKeyOf(directory: string, firstPort = FIRST_PORT): Promise<Hot> {
  const path = join(directory, '.env')
  const isNew = !existsSync(path)
  if (isNew) {
    const lines = [
      "# The server's key: it may ask for settlements, and nothing else. Do not commit this file.",
      `MERCHANT_SIGNING_KEY=${generatePrivateKey()}`,
      `PORT=${await freePort(firstPort)}`,
      '',
    ]
    writeOnce(path, lines.join('\n'), 0o600)
  }
  const text = readFileSync(path, 'utf8')
  const key = /^MERCHANT_SIGNING_KEY=(\S+)$/m.exec(text)?.[1]
  const port = Number(/^PORT=(\d+)$/m.exec(text)?.[1])
  if (!isHex(key) || key.length !== 66 || !port) {
    throw new ShopError(`${path} must have MERCHANT_SIGNING_KEY=0x… and PORT=…: correct it, or remove it`)
  }
  return { address: privateKeyToAddress(key as Hex), port, isNew }
}

const PORTS = 100

async function freePort(first: number): Promise<number> {
  for (let port = first; port < first + PORTS; port++) if (await isFree(port)) return port
  throw new ShopError(`all ports from ${first} to ${first + PORTS - 1} are in use: stop something`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
