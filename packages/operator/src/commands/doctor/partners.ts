// Whether service and facilitator fit each other: ref links that one signs must count with the other.
import { type Config as FacilitatorConfig, newestOf, readManifestKeys } from '@referrer/facilitator'
import { X402 } from '@referrer/protocol'
import { loadAttestation, type Config as ServiceConfig } from '@referrer/service'
import { isAddressEqual } from 'viem'
import type { World } from './chains.ts'
import type { TimeSource } from './database.ts'
import { type Examination, fine, type Verdict, wrong } from './examination.ts'
import type { Subject } from './subject.ts'

/** The public keys of ref links by chain, the newest first. */
type Keys = ReadonlyMap<number, readonly string[]>

/** Returns the facilitator's clock, if one is named. */
export function checkPartners(
  examination: Examination,
  { service, facilitator }: Subject,
  world: World,
): Promise<TimeSource>[] {
  const group = 'attestation keys'
  const signing =
    service &&
    examination.check<Keys>({
      group,
      name: 'of the service',
      advice: 'correct ATTESTATION_KEYS, or what it says instead',
      run: async () => {
        const keys = await publicKeysOf(service)
        return fine(`for chains ${[...keys.keys()].join(', ') || 'none'}`, keys)
      },
    })
  if (facilitator) {
    examination.check<undefined, Keys | undefined>({
      group,
      name: 'of the facilitator',
      needs: signing ?? Promise.resolve(undefined),
      advice: 'start the marketplace first, or set ATTESTATION_PUBLIC_KEYS',
      run: (keys) => judgeKeys(keys, facilitator, world),
    })
  }
  const url = service?.facilitatorUrl
  if (!service || url === undefined) return []
  const time = examination.check<TimeSource>({
    group: 'facilitator',
    name: 'answers',
    advice: `start the facilitator, or correct FACILITATOR_URL (${url})`,
    run: () => lookAtFacilitator(service, url, world),
  })
  return [time]
}

/** Compares what signs ref links with what the facilitator takes. */
async function judgeKeys(
  ours: Keys | undefined,
  { attestationPublicKeys: named, marketUrl, chains }: FacilitatorConfig,
  { fetch }: World,
): Promise<Verdict<undefined>> {
  const told: Keys = marketUrl === undefined ? new Map() : await readManifestKeys(fetch, marketUrl)
  const signing = ours ?? told
  const unknown = chains.flatMap(({ chainId }) => {
    const [newest] = signing.get(chainId) ?? []
    const taken = named.get(chainId) ?? told.get(chainId)
    return newest === undefined || taken?.includes(newest) ? [] : [chainId]
  })
  return unknown.length > 0
    ? wrong(
        `ref links on chain ${unknown.join(', ')} are signed with a key that the facilitator does not know, so that no payment is settled`,
        'put the public key of the first seed of ATTESTATION_KEYS first in ATTESTATION_PUBLIC_KEYS of the facilitator, or set MARKET_URL instead',
      )
    : fine('it knows those that sign')
}

async function publicKeysOf({ attestation, vault }: ServiceConfig): Promise<Keys> {
  const keys = [...attestation].map(async ([chainId, source]) => {
    const { current, previous } = (await loadAttestation(chainId, source, vault))?.ring ?? {}
    const known = [current, previous].flatMap((key) => (key ? [key.attestationPubKey] : []))
    return [chainId, known] as const
  })
  return new Map(await Promise.all(keys))
}

async function lookAtFacilitator(
  service: ServiceConfig,
  url: string,
  { fetch, clock, requestMs }: World,
): Promise<Verdict<TimeSource>> {
  const response = await fetch(`${url}/supported`, { signal: AbortSignal.timeout(requestMs) })
  const aheadMs = Date.parse(response.headers.get('date') ?? '') - clock()
  const { kinds } = (await response.json()) as { kinds?: Kind[] }
  return judgeSupported(service, kinds ?? [], { name: 'the facilitator', aheadMs })
}

interface Kind {
  network?: string
  extra?: { payTo?: `0x${string}` }
}

function judgeSupported(
  { chains }: ServiceConfig,
  kinds: readonly Kind[],
  time: TimeSource,
): Verdict<TimeSource> {
  const problems = chains.flatMap(({ chainId, contracts }) => {
    const payTo = kinds.find(({ network }) => network === X402.Network.from(chainId))?.extra?.payTo
    if (payTo === undefined) return [`it does not settle on chain ${chainId}`]
    const router = newestOf(contracts, 'SplitRouter')
    return isAddressEqual(payTo, router)
      ? []
      : [`on chain ${chainId} it settles through ${payTo}, not through ${router}`]
  })
  return problems.length > 0
    ? wrong(problems.join('; '), 'give the facilitator the same CHAINS, or correct FACILITATOR_URL')
    : fine('settles through our routers', time)
}
