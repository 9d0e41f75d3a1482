// Where the keys of ref links are: seeds here, a Vault, or another process of which only the public keys are known.
import { readFileSync } from 'node:fs'
import { optional, Read, Secret, type Values, type VaultConfig, withDefault } from '@referrer/process'
import { type Hex, isHex, size } from 'viem'
import { z } from 'zod'
import type { AttestationSource } from '../kit/attestation.ts'

const byChain = <T>(item: z.ZodType<T>) =>
  z
    .record(z.string().regex(/^\d{1,15}$/), item)
    .transform((keys) => new Map(Object.entries(keys).map(([chainId, each]) => [Number(chainId), each])))

const seed = z.custom<Hex>((text) => isHex(text) && size(text) === 32).transform((hex) => new Secret(hex))
const Seeds = byChain(z.array(seed).min(1).max(2))
const PublicKeys = byChain(
  z
    .array(z.string().regex(/^[0-9a-f]{64}$/))
    .min(1)
    .max(2),
)
const TransitKeys = byChain(z.string().regex(/^[\w-]{1,128}$/))

export const attestationVariables = {
  ATTESTATION_KEYS: optional(
    Read.json(
      Seeds,
      'a JSON object of chain ids with one or two seeds each: 0x and 64 hex digits, the newest first',
    ),
    'Ed25519 seeds that sign ref links, by chain: {"8453": ["0x<newest>", "0x<the one before>"]}; a chain without has no links',
  ),
  ATTESTATION_PUBLIC_KEYS: optional(
    Read.json(
      PublicKeys,
      'a JSON object of chain ids with one or two keys each: 64 lower-case hex digits, the newest first',
    ),
    'the public keys of ref links, where another process signs them: {"8453": ["<newest>", "<the one before>"]}',
  ),
  ATTESTATION_TRANSIT_KEYS: optional(
    Read.json(TransitKeys, 'a JSON object of chain ids with the name of a key each'),
    'ed25519 keys in the Transit engine of Vault that sign ref links, by chain: {"8453": "ref-links"}',
  ),
  VAULT_ADDR: optional(Read.baseUrl, 'with ATTESTATION_TRANSIT_KEYS: where Vault answers'),
  VAULT_TOKEN: optional(Read.token, 'the token for Vault'),
  VAULT_TOKEN_FILE: optional(
    Read.text('the path of a file'),
    'a file with the token, as an agent of Vault renews it; read before every request',
  ),
  VAULT_NAMESPACE: optional(Read.text('a namespace'), 'the namespace in Vault'),
  VAULT_TRANSIT_MOUNT: withDefault(Read.text('a path'), 'where the Transit engine is mounted', 'transit'),
  VAULT_CACERT: optional(Read.file, 'PEM file with the authority of its certificate'),
  VAULT_CLIENT_CERT: optional(Read.file, 'PEM file with our certificate'),
  VAULT_CLIENT_KEY: optional(Read.secretFile, 'PEM file with the private key of that certificate'),
}

type AttestationValues = Values<typeof attestationVariables>

const VAULT_TIMEOUT_MS = 3_000
const NAMES = ['ATTESTATION_KEYS', 'ATTESTATION_PUBLIC_KEYS', 'ATTESTATION_TRANSIT_KEYS'] as const

export function attestationOf(values: AttestationValues): Map<number, AttestationSource> {
  const chains = new Set(NAMES.flatMap((name) => [...(values[name]?.keys() ?? [])]))
  return new Map(
    [...chains].map((chainId) => [
      chainId,
      {
        seeds: values.ATTESTATION_KEYS?.get(chainId),
        transitKey: values.ATTESTATION_TRANSIT_KEYS?.get(chainId),
        publicKeys: values.ATTESTATION_PUBLIC_KEYS?.get(chainId),
      },
    ]),
  )
}

export function vaultOf(values: AttestationValues): VaultConfig | undefined {
  const { VAULT_ADDR: url, VAULT_TOKEN: token, VAULT_TOKEN_FILE: file } = values
  if (url === undefined) return undefined
  return {
    url,
    token: () =>
      file === undefined ? (token ?? new Secret('')) : new Secret(readFileSync(file, 'utf8').trim()),
    namespace: values.VAULT_NAMESPACE,
    mount: values.VAULT_TRANSIT_MOUNT,
    ca: values.VAULT_CACERT,
    cert: values.VAULT_CLIENT_CERT,
    key: values.VAULT_CLIENT_KEY,
    timeoutMs: VAULT_TIMEOUT_MS,
  }
}

/** `signs`: whether this process has to sign links. */
export function findAttestationProblems(
  values: AttestationValues,
  chains: readonly { chainId: number }[],
  signs: boolean,
): string[] {
  const unknown = NAMES.flatMap((name) =>
    [...(values[name]?.keys() ?? [])]
      .filter((chainId) => chains.every((chain) => chain.chainId !== chainId))
      .map((chainId) => `${name}: chain ${chainId} is not configured`),
  )
  const sources = [...attestationOf(values)]
  const both = sources
    .filter(([, { seeds, transitKey }]) => seeds && transitKey)
    .map(([chainId]) => `ATTESTATION_KEYS: chain ${chainId} is in ATTESTATION_TRANSIT_KEYS, too; keep one`)
  const mute = sources
    .filter(([, { seeds, transitKey }]) => signs && !seeds && !transitKey)
    .map(
      ([chainId]) =>
        `ATTESTATION_PUBLIC_KEYS: workers sign the links of chain ${chainId}; set ATTESTATION_KEYS or ATTESTATION_TRANSIT_KEYS`,
    )
  const vault: string[] = []
  if (values.ATTESTATION_TRANSIT_KEYS) {
    if (!values.VAULT_ADDR) vault.push('VAULT_ADDR: not set, although ATTESTATION_TRANSIT_KEYS is')
    if (!values.VAULT_TOKEN && !values.VAULT_TOKEN_FILE) {
      vault.push('VAULT_TOKEN: neither it nor VAULT_TOKEN_FILE is set, although ATTESTATION_TRANSIT_KEYS is')
    }
  }
  return [...unknown, ...both, ...mute, ...vault]
}
