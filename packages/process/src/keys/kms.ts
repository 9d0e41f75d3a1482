// Keys of a key management service: it signs digests, answers DER without a recovery id, and says its public key.
import { createPublicKey } from 'node:crypto'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Address, bytesToHex, type Hex, hexToBytes, keccak256, type LocalAccount } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { remoteAccount } from './account.ts'
import { SignerError } from './error.ts'

/** One secp256k1 key, as AWS KMS, Google Cloud KMS and Azure Key Vault offer it. */
export interface KmsKey {
  /** SubjectPublicKeyInfo, as DER or as PEM. */
  publicKey(): Promise<Uint8Array | string>
  /** Signs 32 bytes as they are. Answers DER, or r and s of 32 bytes each. */
  signDigest(digest: Uint8Array): Promise<Uint8Array>
}

/** What the file of `KEY_MODULE` exports as its default: the key of an account; undefined if it has none. */
export type KeyModule = (address: Address) => Promise<KmsKey | undefined>

export const kmsAccount = (address: Address, key: KmsKey): LocalAccount =>
  remoteAccount(address, async (preimage) =>
    bytesToHex(await key.signDigest(hexToBytes(keccak256(preimage)))),
  )

export async function addressOfKms(key: KmsKey): Promise<Address> {
  const told = await key.publicKey()
  const options =
    typeof told === 'string'
      ? told
      : { key: Buffer.from(told), format: 'der' as const, type: 'spki' as const }
  const { crv, x = '', y = '' } = createPublicKey(options).export({ format: 'jwk' })
  if (crv !== 'secp256k1') throw new SignerError(`its key is of the curve ${crv}; make one of secp256k1`)
  const point: Hex = `0x04${hexOf(x)}${hexOf(y)}`
  return publicKeyToAddress(point)
}

const hexOf = (coordinate: string) => Buffer.from(coordinate, 'base64url').toString('hex').padStart(64, '0')

export async function loadKeyModule(file: string): Promise<KeyModule> {
  const loaded: { default?: unknown } = await import(pathToFileURL(resolve(file)).href)
  if (typeof loaded.default === 'function') return loaded.default as KeyModule
  throw new SignerError('its default export has to be a function of an address')
}
