// The keys in `keys/` of the state folder, encrypted with one password. Addresses are known without it; a key is decrypted when it first signs.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { addressIn, KeystoreError, readKeystore, writeKeystore } from '@referrer/client/keystore'
import { type Address, getAddress, type Hex, isAddressEqual, type LocalAccount } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount, toAccount } from 'viem/accounts'
import { type BookedAgent, readBook } from './agent-book.ts'
import { Refused } from './refused.ts'

export const SET_PASSWORD =
  'set SIGNER_PASSWORD (or SIGNER_PASSWORD_FILE) in the environment of the signer, or run: npx @referrer/signer setup'

export interface KeyStore {
  /** One for each file. */
  accounts(): LocalAccount[]
  /** The agents of these keys, on the chain of the signer where that is set. */
  agents(): BookedAgent[]
  /** Undefined when no file has the key of the agent. */
  ofAgent(agentId: string): LocalAccount | undefined
  /** Refuses when the password does not open the key. */
  unlock(address: Address): Promise<void>
  /** Encrypts a key into a file of its own; a new key where none is given. */
  add(privateKey?: Hex): Promise<LocalAccount>
}

export interface KeyStoreOptions {
  stateDir: string
  password: string | undefined
  chainId: number | undefined
  /** New keys take a tenth of the usual work to open. */
  isLight: boolean
}

export function openKeyStore({ stateDir, password, chainId, isLight }: KeyStoreOptions): KeyStore {
  const folder = join(stateDir, 'keys')
  const pathOf = (address: Address) => join(folder, `${address.toLowerCase()}.json`)
  /** By path. */
  const opened = new Map<string, Promise<PrivateKeyAccount>>()

  function open(path: string, address: Address): Promise<PrivateKeyAccount> {
    const earlier = opened.get(path)
    if (earlier) return earlier
    const opening = decrypt(path, address, password)
    opened.set(path, opening)
    opening.catch(() => opened.delete(path))
    return opening
  }

  const files = () =>
    namesIn(folder).flatMap((name) => {
      const path = join(folder, name)
      const address = ownerOf(path)
      return address ? [{ path, address }] : []
    })

  const store: KeyStore = {
    accounts: () => files().map(({ path, address }) => locked(address, () => open(path, address))),
    agents() {
      const held = files()
      return readBook(stateDir).agents.filter(
        (agent) =>
          (chainId === undefined || agent.chainId === chainId) &&
          held.some(({ address }) => isAddressEqual(address, agent.address)),
      )
    },
    ofAgent(agentId) {
      const [agent, ...others] = store.agents().filter((one) => one.agentId === agentId)
      if (!agent) return undefined
      if (others.some(({ address }) => !isAddressEqual(address, agent.address))) {
        throw new Refused(`agent ${agentId} has another key on each of several chains: set CHAIN_ID`)
      }
      return store.accounts().find(({ address }) => isAddressEqual(address, agent.address))
    },
    async unlock(address) {
      const file = files().find((one) => isAddressEqual(one.address, address))
      if (file) await open(file.path, address)
    },
    async add(privateKey = generatePrivateKey()) {
      if (password === undefined)
        throw new Refused(`there is no password to encrypt a key with: ${SET_PASSWORD}`)
      const account = privateKeyToAccount(privateKey)
      const { address } = account
      const path = pathOf(address)
      await writeKeystore(path, privateKey, password, { isLight }).catch((error: unknown) => {
        throw error instanceof KeystoreError ? new Refused(error.message) : unwritable(folder, error)
      })
      opened.set(path, Promise.resolve(account))
      return locked(address, () => open(path, address))
    },
  }
  return store
}

async function decrypt(path: string, address: Address, password: string | undefined) {
  if (password === undefined) throw new Refused(`the key of ${address} is locked: ${SET_PASSWORD}`)
  const privateKey = await readKeystore(path, password).catch((error: unknown) => {
    throw error instanceof KeystoreError ? new Refused(`${error.message}: correct SIGNER_PASSWORD`) : error
  })
  const account = privateKeyToAccount(privateKey)
  if (!isAddressEqual(account.address, address)) {
    throw new Refused(`${path} names ${address} and holds the key of ${account.address}: remove it`)
  }
  return account
}

/** An account that is decrypted when it signs. */
const locked = (address: Address, open: () => Promise<PrivateKeyAccount>): LocalAccount =>
  toAccount({
    address,
    sign: async (parameters) => (await open()).sign(parameters),
    signMessage: async (parameters) => (await open()).signMessage(parameters),
    signTransaction: async (...parameters) => (await open()).signTransaction(...parameters),
    signTypedData: async (parameters) => (await open()).signTypedData(parameters),
  })

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new Refused(`the keys cannot be read (${code}): make ${folder} readable`)
  }
}

/** A file that is no keystore, or does not say whose key it holds, is no key of ours: it has to be imported. */
function ownerOf(path: string): Address | undefined {
  try {
    const address = addressIn(path)
    return address && getAddress(address)
  } catch {
    return undefined
  }
}

const unwritable = (folder: string, error: unknown) =>
  new Refused(
    `no key can be written in ${folder} (${(error as NodeJS.ErrnoException).code}): set SIGNER_STATE_DIR to a folder of yours`,
  )
