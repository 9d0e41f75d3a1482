import type { Secret } from '@referrer/process'
import { AttestationKey } from '@referrer/protocol'
import { type Hex, hexToBytes } from 'viem'

/** The keys of one chain's ref links. */
export interface Attestation {
  /** Signs new links. */
  key: AttestationKey.SigningKey
  /** Whose links count: that key, and the one before it. */
  ring: AttestationKey.KeyRing
}

/** The first seed signs; a second one is the key before it. */
export async function loadAttestation(
  seeds: readonly Secret<Hex>[] | undefined,
): Promise<Attestation | undefined> {
  const [key, previous] = await Promise.all(
    (seeds ?? []).map((seed) => AttestationKey.signingKey(hexToBytes(seed.reveal()))),
  )
  if (!key) return undefined
  return { key, ring: await AttestationKey.keyRing(key.attestationPubKey, previous?.attestationPubKey) }
}
