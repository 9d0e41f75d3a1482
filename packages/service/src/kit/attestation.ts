import type { Secret } from '@referrer/process'
import { AttestationKey } from '@referrer/protocol'
import { type Hex, hexToBytes } from 'viem'

/** The Ed25519 keys for the ref links of one chain. */
export interface Attestation {
  /** Signs new ref links. */
  key: AttestationKey.SigningKey
  /** Verifies ref links: holds the signing key and the previous one. */
  ring: AttestationKey.KeyRing
}

/** The first seed is the signing key; the second, if any, is the previous key. */
export async function loadAttestation(
  seeds: readonly Secret<Hex>[] | undefined,
): Promise<Attestation | undefined> {
  const [key, previous] = await Promise.all(
    (seeds ?? []).map((seed) => AttestationKey.signingKey(hexToBytes(seed.reveal()))),
  )
  if (!key) return undefined
  return { key, ring: await AttestationKey.keyRing(key.attestationPubKey, previous?.attestationPubKey) }
}
