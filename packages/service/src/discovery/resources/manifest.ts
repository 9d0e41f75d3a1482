// What a host says itself that it sells.
import { guardedFetch, HostNotAllowed, Unreachable } from '@referrer/net'
import type { Context } from '../../kit/context.ts'
import { fieldsOf, jsonOf, listOf } from '../../kit/loose-json.ts'
import { type Found, readEntry } from './entry.ts'

const PATHS = ['/.well-known/x402', '/.well-known/x402.json']
const PATIENCE_MS = 2_500
const MOST_ENTRIES = 300

/** Never throws: a host that does not answer sells nothing. */
export async function readManifests(
  context: Pick<Context, 'config' | 'lookup' | 'log'>,
  origin: string,
): Promise<Found[]> {
  const manifests = await Promise.all(PATHS.map((path) => readManifest(context, new URL(path, origin))))
  const entries = manifests.flatMap(entriesOf).slice(0, MOST_ENTRIES)
  const found = new Map<string, Found>()
  for (const resource of entries.flatMap((entry) => readEntry(entry, origin) ?? [])) {
    // One of the two may do no more than name it.
    const known = found.get(resource.name)
    if (!known || known.bytes < resource.bytes) found.set(resource.name, resource)
  }
  return [...found.values()]
}

async function readManifest(
  { config: { allowPrivateHosts }, lookup, log }: Pick<Context, 'config' | 'lookup' | 'log'>,
  url: URL,
): Promise<unknown> {
  try {
    const { status, body } = await guardedFetch({ allowPrivateHosts, lookup }, url, {
      timeoutMs: PATIENCE_MS,
    })
    return status === 200 ? jsonOf(body) : undefined
  } catch (error) {
    if (!(error instanceof HostNotAllowed || error instanceof Unreachable)) throw error
    log.debug({ host: url.host, reason: error.message }, 'a host has no manifest now')
    return undefined
  }
}

/** A list under one of the names that are used for it, or one resource that is the whole manifest. */
function entriesOf(manifest: unknown): readonly unknown[] {
  const { items, resources, endpoints, services, accepts } = fieldsOf(manifest)
  const entries = [items, resources, endpoints, services].flatMap(listOf)
  return entries.length === 0 && Array.isArray(accepts) ? [manifest] : entries
}
