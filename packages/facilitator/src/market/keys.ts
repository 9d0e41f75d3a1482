import { createCache } from '@referrer/process'
import { AttestationKey } from '@referrer/protocol'
import { z } from 'zod'
import { MANIFEST_PATH } from '../config.ts'
import { type Chain, type Context, once } from '../context.ts'

const PublicKey = z.string().regex(/^[0-9a-f]{64}$/)
const Manifest = z.object({
  chains: z.array(
    z.object({
      chainId: z.int(),
      attestationPubKey: PublicKey.optional(),
      attestationPubKeys: z.array(PublicKey).optional(),
    }),
  ),
})

/** The newest first: whose ref links count on a chain. */
type Keys = readonly [string, ...string[]]

const PATIENCE_MS = 5_000
/** Made-up key ids must not cause a request to the marketplace each time. */
const ASKED_AGAIN_AFTER_MS = 30_000

/** The keys whose ref links count on each chain, as the marketplace tells it. */
export async function readManifestKeys(
  fetch: Context['fetch'],
  marketUrl: string,
): Promise<ReadonlyMap<number, Keys>> {
  const response = await fetch(`${marketUrl}${MANIFEST_PATH}`, {
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  if (!response.ok) throw new Error(`the marketplace answered with status ${response.status}`)
  const { chains } = Manifest.parse(await response.json())
  return new Map(
    chains.flatMap(({ chainId, attestationPubKey, attestationPubKeys = [] }) => {
      // A manifest without the list has the newest key alone.
      const [current = attestationPubKey, ...others] = attestationPubKeys
      return current === undefined ? [] : [[chainId, [current, ...others]] as const]
    }),
  )
}

const newestKeys = once(({ config: { marketUrl }, fetch, clock, log }) =>
  createCache<void, ReadonlyMap<number, Keys>>({
    keyOf: () => '',
    load: async () => {
      try {
        if (marketUrl !== undefined) return await readManifestKeys(fetch, marketUrl)
      } catch (err) {
        log.warn({ err }, 'the keys of the marketplace cannot be read')
      }
      return new Map()
    },
    ttlMs: () => ASKED_AGAIN_AFTER_MS,
    max: 1,
    clock,
  }),
)

/** A link names a key that we do not know: perhaps it is a new one. Keys that the configuration names stay. */
export async function learnKey(context: Context, chain: Chain): Promise<void> {
  if (context.config.attestationPublicKeys.has(chain.chainId)) return
  const told = (await newestKeys(context)()).get(chain.chainId)
  if (!told) return
  const [current, previous] = told
  const ring = previous
    ? await AttestationKey.keyRing(current, previous)
    : await AttestationKey.rotate(chain.ring, current)
  if (kidsOf(ring) === kidsOf(chain.ring)) return
  chain.ring = ring
  context.log.info({ chainId: chain.chainId, kid: ring.current.kid }, 'ref links are signed with a new key')
}

const kidsOf = ({ current, previous }: AttestationKey.KeyRing) => `${current.kid} ${previous?.kid}`
