import { ConfigError, openTransitKey, type Secret, SignerError, type VaultConfig } from '@referrer/process'
import { AttestationKey } from '@referrer/protocol'
import { type Hex, hexToBytes } from 'viem'

/** The Ed25519 keys for the ref links of one chain. */
export interface Attestation {
  /** Signs new ref links. Undefined: another process does. */
  key: AttestationKey.SigningKey | undefined
  /** Verifies ref links: holds the signing key and the previous one. */
  ring: AttestationKey.KeyRing
}

/** Where the keys of one chain are; each list has the newest first and at most one more. */
export interface AttestationSource {
  seeds?: readonly Secret<Hex>[] | undefined
  /** The name of a key in the Transit engine of Vault. */
  transitKey?: string | undefined
  publicKeys?: readonly string[] | undefined
}

/** Undefined: nobody signs links. Throws a `ConfigError`. */
export async function loadAttestation(
  chainId: number,
  { seeds = [], transitKey, publicKeys }: AttestationSource,
  vault?: VaultConfig,
): Promise<Attestation | undefined> {
  const held =
    transitKey !== undefined && vault
      ? await fromVault(vault, transitKey)
      : await Promise.all(seeds.map((seed) => AttestationKey.signingKey(hexToBytes(seed.reveal()))))
  const [key] = held
  const [current, previous] = publicKeys ?? held.map(({ attestationPubKey }) => attestationPubKey)
  if (current === undefined) return undefined
  if (key && key.attestationPubKey !== current) {
    throw new ConfigError([
      `ATTESTATION_PUBLIC_KEYS: the first key of chain ${chainId} is not the one that signs here; both change together`,
    ])
  }
  return { key, ring: await AttestationKey.keyRing(current, previous) }
}

async function fromVault(vault: VaultConfig, name: string): Promise<AttestationKey.SigningKey[]> {
  const keys = await openTransitKey(vault, name).catch((error: unknown) => {
    if (!(error instanceof SignerError)) throw error
    throw new ConfigError([`ATTESTATION_TRANSIT_KEYS: ${error.message}`])
  })
  return keys.map(({ publicKey, sign }) => ({
    attestationPubKey: publicKey,
    kid: AttestationKey.kidOf(publicKey),
    sign,
  }))
}
