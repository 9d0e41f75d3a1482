// What the Transit engine of Vault 1.13 answers for ed25519 keys: paths, bodies and statuses from its documentation, keys in memory.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { type Answered, type StandIn, serve } from './server.ts'

export interface TestVault extends StandIn {
  token: string
  /** How many signatures it made. */
  signatures: number
  mood: 'honest' | 'lying' | 'sealed'
  /** Adds a version, as `vault write -f transit/keys/<name>/rotate` does. */
  rotate(name: string): void
  /** As `vault write transit/keys/<name>/config min_decryption_version=<version>`. */
  forget(name: string, before: number): void
}

interface Named {
  type: string
  versions: KeyObject[]
  minDecryptionVersion: number
}

/** DER header of an Ed25519 private key (RFC 8410). */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex')
const PATH = /^\/v1\/transit\/(keys|sign)\/([\w-]+)$/

const json = (status: number, body: object): Answered => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
})
const refused = (status: number, ...errors: string[]) => json(status, { errors })

const fresh = () => generateKeyPairSync('ed25519').privateKey
const rawPublic = (key: KeyObject) =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)

/** `keys`: names, each with the seed of its first version where that matters. */
export async function startVault(keys: Record<string, Uint8Array | undefined>): Promise<TestVault> {
  const token = 'hvs.test-token'
  const named = new Map<string, Named>(
    Object.entries(keys).map(([name, seed]) => {
      const first = seed
        ? createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, seed]), format: 'der', type: 'pkcs8' })
        : fresh()
      return [name, { type: 'ed25519', versions: [first], minDecryptionVersion: 1 }]
    }),
  )
  const state = { mood: 'honest' as TestVault['mood'], signatures: 0 }

  function read(name: string): Answered {
    const key = named.get(name)
    if (!key) return refused(404)
    const shown = key.versions.flatMap((version, at) =>
      at + 1 < key.minDecryptionVersion
        ? []
        : [
            [
              String(at + 1),
              {
                creation_time: '2026-01-01T00:00:00Z',
                name: key.type,
                public_key: rawPublic(version).toString('base64'),
              },
            ],
          ],
    )
    return json(200, {
      data: {
        name,
        type: key.type,
        keys: Object.fromEntries(shown),
        latest_version: key.versions.length,
        min_decryption_version: key.minDecryptionVersion,
        min_encryption_version: 0,
        supports_signing: true,
      },
    })
  }

  function signWith(name: string, body: string): Answered {
    const key = named.get(name)
    if (!key) return refused(400, 'signing key not found')
    const { input, key_version: asked = 0 } = JSON.parse(body)
    if (typeof input !== 'string') return refused(400, 'missing input')
    const version = asked === 0 ? key.versions.length : asked
    const privateKey = key.versions[version - 1]
    if (!privateKey)
      return refused(400, 'requested version for signing is higher than the latest key version')
    state.signatures += 1
    const signature = sign(null, Buffer.from(input, 'base64'), state.mood === 'lying' ? fresh() : privateKey)
    return json(200, {
      data: { signature: `vault:v${version}:${signature.toString('base64')}`, key_version: version },
    })
  }

  const standIn = await serve(({ method, path, headers, body }) => {
    if (state.mood === 'sealed') return refused(503, 'Vault is sealed')
    if (headers['x-vault-token'] !== token) return refused(403, 'permission denied')
    const [, what, name = ''] = PATH.exec(path) ?? []
    if (what === 'keys' && method === 'GET') return read(name)
    if (what === 'sign' && (method === 'POST' || method === 'PUT')) return signWith(name, body)
    return refused(404, `no handler for route "${path}". route entry not found.`)
  })
  return Object.assign(state, standIn, {
    token,
    rotate: (name: string) => void named.get(name)?.versions.push(fresh()),
    forget(name: string, before: number) {
      const key = named.get(name)
      if (key) key.minDecryptionVersion = before
    },
  })
}
