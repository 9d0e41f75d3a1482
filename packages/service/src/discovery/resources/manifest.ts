// Reads the manifest in which a host lists what it sells.
import { guardedFetch, HostNotAllowed, Unreachable } from '@referrer/net'
import type { Context } from '../../kit/context.ts'
import { fieldsOf, jsonOf, listOf } from '../../kit/loose-json.ts'
import { type Found, readEntry } from './entry.ts'

const PATHS = ['/.well-known/x402', '/.well-known/x402.json']
/** Time limit for each path, unless the chain has another one. */
const TIMEOUT_MS = 2_500
const MOST_ENTRIES = 300

/** Never throws for a host that does not answer; it gives an empty list. */
export async function readManifests(
  context: Pick<Context, 'config' | 'lookup' | 'log'>,
  origin: string,
  timeoutMs = TIMEOUT_MS,
): Promise<Found[]> {
  const manifests = await Promise.all(
    PATHS.map((path) => readManifest(context, new URL(path, origin), timeoutMs)),
  )
  const entries = manifests.flatMap(entriesOf).slice(0, MOST_ENTRIES)
  const found = new Map<string, Found>()
  for (const resource of entries.flatMap((entry) => readEntry(entry, origin) ?? [])) {
    // Of two entries for the same resource, keep the one that says more.
    const known = found.get(resource.name)
    if (!known || known.bytes < resource.bytes) found.set(resource.name, resource)
  }
  return [...found.values()]
}

async function readManifest(
  { config: { allowPrivateHosts }, lookup, log }: Pick<Context, 'config' | 'lookup' | 'log'>,
  url: URL,
  timeoutMs: number,
): Promise<unknown> {
  try {
    const { status, body } = await guardedFetch({ allowPrivateHosts, lookup }, url, { timeoutMs })
    return status === 200 ? jsonOf(body) : undefined
  } catch (error) {
    if (!(error instanceof HostNotAllowed || error instanceof Unreachable)) throw error
    log.debug({ host: url.host, reason: error.message }, 'a host gave no manifest')
    return undefined
  }
}

/** The entries are a list under one of the usual names; or the whole manifest is a single resource. */
function entriesOf(manifest: unknown): readonly unknown[] {
  const { items, resources, endpoints, services, accepts } = fieldsOf(manifest)
  const entries = [items, resources, endpoints, services].flatMap(listOf)
  return entries.length === 0 && Array.isArray(accepts) ? [manifest] : entries
}
