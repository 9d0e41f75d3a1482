// Reads an entry of a catalogue or manifest. There are several formats, and not everybody follows them. So every
// known field is read wherever it may be, and its value is shown unchanged.
import { parseWebUrl } from '@referrer/net'
import { type Fields, fieldsOf, listOf } from '../../kit/loose-json.ts'
import type { Described } from './shapes.ts'

/** A resource found in a catalogue or manifest. */
export interface Found {
  /** The normalised address, to recognise the same resource. */
  name: string
  resource: string
  /** The accounts that it can be paid to, in lower case. */
  payees: readonly string[]
  described: Described
  /** Size of `described` as JSON. */
  bytes: number
}

const MAX_URL = 2_048
const MAX_BYTES = 64 * 1024
const MAX_DEPTH = 32

/** An address can have an HTTP method before it. */
const WITH_METHOD = /^([A-Z]{3,7})\s+(\S+)$/

/**
 * `origin`: the host of the manifest, whose entries may be paths. Undefined: the entry has no address that can be
 * shown.
 */
export function readEntry(entry: unknown, origin?: string): Found | undefined {
  const fields = typeof entry === 'string' ? { resource: entry } : fieldsOf(entry)
  const accepts = listOf(fields.accepts)
  const named = textOf(
    fields.resource,
    fieldsOf(fields.resource).url,
    fields.url,
    fields.endpoint,
    fields.path,
    fieldsOf(accepts[0]).resource,
  )
  const [, method, address = named ?? ''] = WITH_METHOD.exec(named ?? '') ?? []
  const resource = origin !== undefined && /^\/(?!\/)/.test(address) ? `${origin}${address}` : address
  const name = nameOf(resource)
  if (name === undefined || !isShallow(entry)) return undefined
  const described = describedBy(fields, accepts, method)
  const bytes = Buffer.byteLength(JSON.stringify(described))
  const payees = [fields, ...accepts].flatMap((option) => textOf(fieldsOf(option).payTo)?.toLowerCase() ?? [])
  return bytes > MAX_BYTES ? undefined : { name, resource, payees, described, bytes }
}

/** The normalised address for comparisons; undefined: it is not an http or https address. */
export function nameOf(address: string): string | undefined {
  const url = address.length <= MAX_URL ? parseWebUrl(address) : undefined
  if (!url) return undefined
  url.hash = ''
  return url.href
}

function describedBy(fields: Fields, accepts: readonly unknown[], method: string | undefined): Described {
  const first = fieldsOf(accepts[0])
  const about = fieldsOf(fields.resource)
  const metadata = fieldsOf(fields.metadata)
  const price = [first.amount, first.maxAmountRequired, first.price, fields.price].find(isTextOrNumber)
  const updated = [fields.lastUpdated, fields.last_updated, metadata.lastUpdated].find(isTextOrNumber)
  const api = apiOf({ fields, metadata, first, method })
  return {
    price,
    accepts: [...accepts],
    name: textOf(fields.name, fields.serviceName, about.serviceName, about.name, metadata.name),
    description: textOf(fields.description, about.description, metadata.description, first.description),
    category: textOf(fields.category, metadata.category),
    type: textOf(fields.type),
    last_updated: updated,
    quality: fields.quality ?? metadata.quality ?? undefined,
    api: Object.values(api).some((told) => told !== undefined) ? api : undefined,
  }
}

interface Told {
  fields: Fields
  metadata: Fields
  /** The first payment option. */
  first: Fields
  method: string | undefined
}

/**
 * How to call the resource: from the `bazaar` extension or, in older formats, from the payment option or the entry
 * itself.
 */
function apiOf({ fields, metadata, first, method }: Told): NonNullable<Described['api']> {
  const bazaar = fieldsOf(fieldsOf(fields.extensions).bazaar)
  const info = fieldsOf(bazaar.info)
  const others = [fieldsOf(first.outputSchema), fieldsOf(fields.outputSchema), fields, metadata]
  const input = fieldsOf(
    [info, ...others].find((told) => Object.keys(fieldsOf(told.input)).length > 0)?.input,
  )
  const output = info.output ?? others.find((told) => told.output !== undefined)?.output
  return {
    input_method: textOf(input.method, method, fields.method),
    input_type: textOf(input.type),
    output_example:
      fieldsOf(output).example ??
      fields.output_example ??
      // Without the extension the output is itself the example.
      (info.output === undefined ? output : undefined),
    schema: bazaar.schema ?? first.outputSchema ?? fields.outputSchema ?? fields.schema ?? metadata.schema,
  }
}

const textOf = (...values: unknown[]): string | undefined =>
  values.find((value) => typeof value === 'string') as string | undefined

const isTextOrNumber = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number'

/** More deeply nested values are refused, because serialising them could overflow the stack. */
function isShallow(value: unknown, depth = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1))
}
