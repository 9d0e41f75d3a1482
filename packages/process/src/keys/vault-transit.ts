// Ed25519 keys in the Transit engine of HashiCorp Vault, or of OpenBao.
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Secret } from '../secret.ts'
import { createSignerClient, type SignerDoor } from './client.ts'
import { SignerError } from './error.ts'

export interface VaultConfig extends SignerDoor {
  /** Asked before every request, because tokens expire and are renewed. */
  token: () => Secret
  namespace: string | undefined
  /** Where the engine is mounted. */
  mount: string
}

export interface TransitKey {
  /** 64 lower-case hex digits. */
  publicKey: string
  sign(message: Uint8Array): Promise<Uint8Array>
}

/** DER header of an Ed25519 public key (RFC 8410). */
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex')

/**
 * The newest version of a key, which signs, and the version before it, as long as Vault still verifies with that. A version that is added
 * later does not count before the next start, because others have to learn its public key first.
 */
export async function openTransitKey(
  config: VaultConfig,
  name: string,
): Promise<[TransitKey, ...TransitKey[]]> {
  const client = createSignerClient('Vault', config)
  const namespace: Record<string, string> =
    config.namespace === undefined ? {} : { 'x-vault-namespace': config.namespace }

  async function ask<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> {
    const headers = { ...namespace, 'x-vault-token': config.token().reveal() }
    const { status, text } = await client.request(method, `/v1/${config.mount}/${path}`, { headers, body })
    if (status !== 200) throw new SignerError(`Vault refuses ${path}: ${refusalOf(status, text)}`)
    return dataOf<T>(text, path)
  }

  function keyOf(version: number, publicKey: Buffer): TransitKey {
    const verifying = createPublicKey({
      key: Buffer.concat([SPKI_HEADER, publicKey]),
      format: 'der',
      type: 'spki',
    })
    return {
      publicKey: publicKey.toString('hex'),
      async sign(message) {
        const body = { input: Buffer.from(message).toString('base64'), key_version: version }
        const { signature } = await ask<{ signature?: unknown }>('POST', `sign/${name}`, body)
        return checked(verifying, message, signature, name)
      },
    }
  }

  const read = await ask<KeyInfo>('GET', `keys/${name}`)
  if (read.type !== 'ed25519') {
    throw new SignerError(`the transit key ${name} is of type ${read.type}; make one of type ed25519`)
  }
  const newest = read.latest_version ?? 0
  const oldest = Math.max(read.min_decryption_version ?? 1, newest - 1, 1)
  const versions = newest > oldest ? [newest, oldest] : [newest]
  const [current, ...others] = versions.map((version) => keyOf(version, publicKeyIn(read, version, name)))
  if (!current) throw new SignerError(`the transit key ${name} has no version`)
  return [current, ...others]
}

interface KeyInfo {
  type?: string
  latest_version?: number
  min_decryption_version?: number
  keys?: Record<string, { public_key?: string } | undefined>
}

function publicKeyIn({ keys }: KeyInfo, version: number, name: string): Buffer {
  const raw = Buffer.from(keys?.[version]?.public_key ?? '', 'base64')
  if (raw.length === 32) return raw
  throw new SignerError(`Vault does not tell the public key of version ${version} of ${name}`)
}

/** `vault:v<version>:<base64>` */
function checked(key: KeyObject, message: Uint8Array, answer: unknown, name: string): Uint8Array {
  const encoded = /^vault:v\d+:([A-Za-z0-9+/]+={0,2})$/.exec(String(answer))?.[1] ?? ''
  const signature = Buffer.from(encoded, 'base64')
  if (signature.length === 64 && verify(null, message, key, signature)) return new Uint8Array(signature)
  throw new SignerError(`Vault's answer is not a signature of the transit key ${name}; it is not used`)
}

function dataOf<T>(text: string, path: string): T {
  try {
    const { data }: { data?: unknown } = JSON.parse(text)
    if (typeof data === 'object' && data !== null) return data as T
  } catch {}
  throw new SignerError(`Vault's answer to ${path} cannot be read`)
}

/** Vault says why in `errors`; it never repeats the token. */
function refusalOf(status: number, text: string): string {
  let why = ''
  try {
    const { errors }: { errors?: unknown } = JSON.parse(text)
    if (Array.isArray(errors)) why = errors.join('; ').trim()
  } catch {}
  const hint =
    status === 403 ? '; check VAULT_TOKEN and its policy' : status === 404 ? '; is there such a key?' : ''
  return `${status}${why && ` (${why.slice(0, 200)})`}${hint}`
}
