// Replaces the key of ref links. What runs is read from the manifest, what is signed from the records, so every run goes on where the last
// one ended.
import type { Sql } from '@referrer/database'
import { AttestationKey } from '@referrer/protocol'
import { countLinks } from '@referrer/service'
import { type Hex, hexToBytes } from 'viem'
import { CommandFailed } from '../../command.ts'
import { waitFor } from './wait-for.ts'

export interface AttestationRotation {
  chainId: number
  /** The new seed and its file; undefined: Vault makes the key, or nothing was made yet. */
  made: { seed: Hex; file: string } | undefined
  /** The public keys that the market tells now, the newest first. */
  told(): Promise<readonly string[]>
  sql: Sql
  /** The key in Vault, where one is configured. */
  transitKey: string | undefined
  isDryRun: boolean
  waitMs: number
  print(text: string): void
}

/** Returns whether everything is done. */
export async function rotateAttestation(rotation: AttestationRotation): Promise<boolean> {
  const { chainId, made, transitKey, print } = rotation
  const before = await rotation.told()
  if (before.length === 0) {
    throw new CommandFailed(
      `nobody signs ref links on chain ${chainId}: set ATTESTATION_KEYS, there is nothing to rotate`,
    )
  }
  const next = made && (await AttestationKey.signingKey(hexToBytes(made.seed))).attestationPubKey
  if (!next) {
    print(
      transitKey === undefined
        ? '! name a file for the new seed with --new-key\n'
        : `! make a new version: vault write -f transit/keys/${transitKey}/rotate
    then put both public keys into ATTESTATION_PUBLIC_KEYS everywhere, and restart\n`,
    )
    return false
  }
  print(`attestation on chain ${chainId}: the new public key is ${next}\n`)
  const [current] = before
  if (current !== next) {
    print(`! 1. processes that only verify (api, facilitator): ATTESTATION_PUBLIC_KEYS {"${chainId}": ["${next}", "${current}"]}, and restart them
  2. processes that sign (workers, indexer): ATTESTATION_KEYS {"${chainId}": ["<the seed in ${made.file}>", "<the present seed>"]}, and restart them\n`)
  }
  if (!(await waitFor(rotation, async () => (await rotation.told())[0] === next))) {
    print('· run it again after the restarts\n')
    return false
  }
  print('✓ the market tells the new key\n')
  const kid = AttestationKey.kidOf(next)
  if (!(await waitFor(rotation, async () => (await countLinks(rotation.sql, chainId, kid)).others === 0))) {
    const { others } = await countLinks(rotation.sql, chainId, kid)
    print(
      `· the links of ${others} products are still signed with the old key; workers replace them, run it again later\n`,
    )
    return false
  }
  print('✓ all links that the market shows are signed with the new key\n')
  if ((await rotation.told()).length > 1) {
    print(`· links that people have kept work as long as the old key is named. When that was long enough, or at once if it was stolen,
  take the old key out of ATTESTATION_KEYS and ATTESTATION_PUBLIC_KEYS everywhere and restart\n`)
    return false
  }
  print('✓ the old key counts no more\ndone: destroy its seed\n')
  return true
}
