// The keys that a host lists in its DID document (did:web).
import { guardedFetch, HostNotAllowed, Unreachable } from '@referrer/net'
import { createCache } from '@referrer/process'
import { type Context, oncePerProcess } from '../../kit/context.ts'
import { jsonOf } from '../../kit/loose-json.ts'
import { keysIn, type ListedKey } from './did.ts'
import { NotNow } from './verdict.ts'

const TIMEOUT_MS = 5_000
const MOST_BYTES = 64 * 1024
/** Strangers can name any shop: a host is asked once in this time, also when it does not answer. */
const KEPT_MS = 60_000
const MOST_HOSTS = 1_000

/** Undefined: the host has no document that can be read. */
type Listed = readonly ListedKey[] | undefined

const documentsOf = oncePerProcess((context) =>
  createCache<string, Listed>({
    keyOf: (origin) => origin,
    load: (origin) => readKeys(context, origin),
    ttlMs: () => KEPT_MS,
    clock: context.clock,
    max: MOST_HOSTS,
  }),
)

/** The keys of the host of this endpoint. Throws `NotNow` when they cannot be read. */
export async function listedKeys(context: Context, endpoint: URL): Promise<readonly ListedKey[]> {
  // By TLS, except in a sandbox: the key of who is in the middle must not pass for that of the shop.
  const origin = context.config.allowPrivateHosts ? endpoint.origin : `https://${endpoint.host}`
  const keys = await documentsOf(context)(origin)
  if (!keys) throw new NotNow("the endpoint's host gave no DID document at /.well-known/did.json")
  return keys
}

async function readKeys(
  { config: { allowPrivateHosts }, lookup }: Pick<Context, 'config' | 'lookup'>,
  origin: string,
): Promise<Listed> {
  try {
    const { status, body } = await guardedFetch(
      { allowPrivateHosts, lookup },
      new URL('/.well-known/did.json', origin),
      {
        headers: { accept: 'application/did+json, application/json' },
        timeoutMs: TIMEOUT_MS,
        maxBytes: MOST_BYTES,
      },
    )
    const document = status === 200 ? jsonOf(body) : undefined
    return document === undefined ? undefined : keysIn(document)
  } catch (error) {
    if (!(error instanceof HostNotAllowed || error instanceof Unreachable)) throw error
    return undefined
  }
}
