// The owner's key: it opens and lists, and the shop's server never needs it.
import { resolve } from 'node:path'
import { KeystoreError, readKeystore } from '@referrer/client/keystore'
import { isHex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { ShopError } from './report.ts'

/** Keys of the sandbox open nothing of value, so they may all have this password. */
export const SANDBOX_PASSWORD = 'sandbox'

export interface KeyOptions {
  /** A keystore file. */
  key: string | undefined
  directory: string
  env: NodeJS.ProcessEnv
  isSandbox: boolean
  /** Undefined where nobody can be asked. */
  askPassword: ((path: string) => Promise<string>) | undefined
}

export async function readOwner({
  key,
  directory,
  env,
  isSandbox,
  askPassword,
}: KeyOptions): Promise<PrivateKeyAccount> {
  if (key === undefined) {
    const text = env.MERCHANT_PRIVATE_KEY
    if (text === undefined || text === '') {
      throw new ShopError(
        "the owner's key is missing: name a keystore file with --key, or set MERCHANT_PRIVATE_KEY",
      )
    }
    if (!isHex(text) || text.length !== 66) {
      throw new ShopError('MERCHANT_PRIVATE_KEY must be a private key: 0x and 64 hex digits')
    }
    return privateKeyToAccount(text)
  }
  const path = resolve(directory, key)
  const password = env.REFERRER_PASSWORD
  if (password !== undefined) return open(path, password, 'set REFERRER_PASSWORD to its password')
  if (isSandbox) {
    const account = await open(path, SANDBOX_PASSWORD, '').catch((error) => {
      if (error instanceof ShopError) return undefined
      throw error
    })
    if (account) return account
  }
  if (!askPassword) throw new ShopError(`set REFERRER_PASSWORD to the password of ${path}`)
  return open(path, await askPassword(path), 'try again')
}

async function open(path: string, password: string, next: string): Promise<PrivateKeyAccount> {
  try {
    return privateKeyToAccount(await readKeystore(path, password))
  } catch (error) {
    if (!(error instanceof KeystoreError)) throw error
    const hint = /^the password does not open/.test(error.message)
      ? `: ${next}`
      : ': name the file with --key'
    throw new ShopError(`${error.message}${hint}`)
  }
}
