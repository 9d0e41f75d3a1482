// The settings of keys that the service and the facilitator share.
import { type Address, type Hex, isAddressEqual } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { optional, type Values, withDefault } from '../environment.ts'
import { addresses, baseUrl, file, privateKeys, secretFile, text, token, whole } from '../readers.ts'
import type { Secret } from '../secret.ts'
import type { Web3SignerConfig } from './web3signer.ts'

/** An account that sends transactions of ours. */
export interface OwnAccount {
  address: Address
  /** Undefined: a remote signer has the key, or another process sends. */
  privateKey: Secret<Hex> | undefined
}

export interface KeysConfig {
  web3signer: Web3SignerConfig | undefined
  /** Path of a module that signs by a key management service. */
  keyModule: string | undefined
  /** Accounts that get nothing new to send and only finish what is left in their outbox. */
  retiring: readonly OwnAccount[]
}

export const keyVariables = {
  WEB3SIGNER_URL: optional(
    baseUrl,
    'a Web3Signer (eth1) that has the keys of accounts that are named by their address',
  ),
  WEB3SIGNER_TOKEN: optional(token, 'sent to it as a bearer token, for a proxy in front of it'),
  WEB3SIGNER_CA: optional(file, 'PEM file with the authority of its certificate'),
  WEB3SIGNER_CERT: optional(file, 'PEM file with our certificate, by which it knows us'),
  WEB3SIGNER_KEY: optional(secretFile, 'PEM file with the private key of that certificate'),
  WEB3SIGNER_TIMEOUT_MS: withDefault(
    whole(100, 60_000),
    'how long it may take to answer; each request is tried three times',
    '3000',
  ),
  KEY_MODULE: optional(
    text('the path of a JavaScript module'),
    'a module that signs by a key management service, instead of WEB3SIGNER_URL; see docs/security.md',
  ),
  RETIRING_PRIVATE_KEYS: optional(
    privateKeys,
    'keys that are being replaced: they send what is left and get nothing new, separated by commas',
  ),
  RETIRING_ADDRESSES: optional(addresses, 'the same as addresses, where a remote signer has the keys'),
}

type KeyValues = Values<typeof keyVariables>

export const keysConfigOf = (values: KeyValues): KeysConfig => ({
  web3signer:
    values.WEB3SIGNER_URL === undefined
      ? undefined
      : {
          url: values.WEB3SIGNER_URL,
          token: values.WEB3SIGNER_TOKEN,
          ca: values.WEB3SIGNER_CA,
          cert: values.WEB3SIGNER_CERT,
          key: values.WEB3SIGNER_KEY,
          timeoutMs: values.WEB3SIGNER_TIMEOUT_MS,
        },
  keyModule: values.KEY_MODULE,
  retiring: ownAccounts(values.RETIRING_PRIVATE_KEYS, values.RETIRING_ADDRESSES),
})

/** The accounts of the keys, then those that are named by their address only. */
export function ownAccounts(keys: readonly Secret<Hex>[] = [], named: readonly Address[] = []): OwnAccount[] {
  const known = keys.map((key) => ({ address: privateKeyToAddress(key.reveal()), privateKey: key }))
  const isKnown = (one: Address) => known.some((each) => isAddressEqual(each.address, one))
  return [
    ...known,
    ...named.filter((one) => !isKnown(one)).map((one) => ({ address: one, privateKey: undefined })),
  ]
}

export function findKeyProblems(values: KeyValues): string[] {
  const problems: string[] = []
  if (values.WEB3SIGNER_URL !== undefined && values.KEY_MODULE !== undefined) {
    problems.push('KEY_MODULE: WEB3SIGNER_URL is set, too; keep one of them')
  }
  const isSecure = values.WEB3SIGNER_URL?.startsWith('https:')
  for (const name of ['WEB3SIGNER_CA', 'WEB3SIGNER_CERT', 'WEB3SIGNER_KEY'] as const) {
    if (values[name] !== undefined && !isSecure) {
      problems.push(`${name}: only for a WEB3SIGNER_URL that begins with https`)
    }
  }
  if ((values.WEB3SIGNER_CERT === undefined) !== (values.WEB3SIGNER_KEY === undefined)) {
    problems.push('WEB3SIGNER_CERT, WEB3SIGNER_KEY: set both or none')
  }
  return problems
}

/** Whether a key and an address that are both set belong together. */
export function findAccountProblems(
  name: string,
  key: Secret<Hex> | undefined,
  named: Address | undefined,
): string[] {
  if (!key || !named || isAddressEqual(privateKeyToAddress(key.reveal()), named)) return []
  return [`${name}_ADDRESS: is not the account of ${name}_PRIVATE_KEY; set one of the two`]
}
