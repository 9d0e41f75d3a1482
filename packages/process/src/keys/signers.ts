// From the accounts of the configuration to accounts that sign.
import { isAddressEqual, type LocalAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { ConfigError } from '../environment.ts'
import type { KeysConfig, OwnAccount } from './config.ts'
import { SignerError } from './error.ts'
import { addressOfKms, kmsAccount, loadKeyModule } from './kms.ts'
import { createWeb3Signer } from './web3signer.ts'

export interface Signers {
  /** In the order of the accounts; those that nothing here signs for are left out. */
  accounts: LocalAccount[]
  /** What keeps the remote signer from signing now; undefined: nothing. */
  trouble(): Promise<string | undefined>
}

/**
 * Throws a `ConfigError` that names every account whose key is not where the configuration says. A remote signer that does not answer
 * now does not prevent the start: transactions wait for it.
 */
export async function openSigners(config: KeysConfig, wanted: readonly OwnAccount[]): Promise<Signers> {
  const unique = wanted.filter(
    ({ address }, at) => wanted.findIndex((other) => isAddressEqual(other.address, address)) === at,
  )
  const remote = unique.filter(({ privateKey }) => privateKey === undefined).map(({ address }) => address)
  const signer =
    remote.length === 0
      ? undefined
      : config.keyModule !== undefined
        ? await openModule(config.keyModule, remote)
        : config.web3signer && (await openWeb3Signer(config.web3signer, remote))
  return {
    accounts: unique.flatMap(({ address, privateKey }) => {
      if (privateKey) return [privateKeyToAccount(privateKey.reveal())]
      return signer ? [signer.account(address)] : []
    }),
    trouble: async () => signer?.trouble(),
  }
}

interface Remote {
  account(address: OwnAccount['address']): LocalAccount
  trouble(): Promise<string | undefined>
}

async function openWeb3Signer(
  config: NonNullable<KeysConfig['web3signer']>,
  addresses: OwnAccount['address'][],
): Promise<Remote> {
  const signer = createWeb3Signer(config)
  const missing = await signer.missing(addresses).catch((error: unknown) => {
    if (error instanceof SignerError) return []
    throw error
  })
  if (missing.length > 0) {
    throw new ConfigError(
      missing.map((address) => `WEB3SIGNER_URL: it has no key of ${address}; load it there`),
    )
  }
  return {
    account: signer.account,
    async trouble() {
      try {
        const [first] = await signer.missing(addresses)
        return first && `Web3Signer has no key of ${first}: load it there`
      } catch (error) {
        return (error as Error).message
      }
    },
  }
}

async function openModule(file: string, addresses: OwnAccount['address'][]): Promise<Remote> {
  const problem = (text: string) => new ConfigError([`KEY_MODULE: ${text}`])
  const keyOf = await loadKeyModule(file).catch((error: Error) => {
    throw problem(`the module cannot be loaded (${error.message})`)
  })
  const accounts = await Promise.all(
    addresses.map(async (address) => {
      const key = await keyOf(address).catch((error: Error) => {
        throw problem(`it fails for ${address} (${error.message})`)
      })
      if (!key) throw problem(`it has no key of ${address}`)
      const own = await addressOfKms(key).catch((error: Error) => {
        throw problem(`the public key for ${address} cannot be read (${error.message})`)
      })
      if (!isAddressEqual(own, address))
        throw problem(`the key that it gives for ${address} is that of ${own}`)
      return kmsAccount(address, key)
    }),
  )
  return {
    account: (address) => accounts.find((each) => isAddressEqual(each.address, address)) as LocalAccount,
    trouble: async () => undefined,
  }
}
