// The ERC-8004 registration file, to which the URI of an agent or a merchant resolves.
import type { Address } from 'viem'
import * as Base64 from './base64.ts'
import { ProtocolError } from './error.ts'
import { decodeText, parseJson } from './json.ts'
import { reader, type Uint256Input } from './read.ts'

/**
 * A place where an agent can be reached: `MCP`, `A2A`, `web`, `ENS`, …
 *
 * @example
 * ```ts
 * import type { Registration } from '@referrer/protocol'
 *
 * export const service: Registration.Service = { name: 'MCP', endpoint: 'https://agent.test/mcp', version: '2025-06-18' }
 * ```
 */
export type Service = { name: string; endpoint: string; version?: string }

/**
 * What an agent or a merchant says of itself.
 *
 * @example
 * ```ts
 * import type { Registration } from '@referrer/protocol'
 *
 * export const shown = ({ name, services }: Registration.Registration) => `${name}, ${services.length} services`
 * ```
 */
export type Registration = {
  name: string
  description: string
  /** Empty: none. */
  image: string
  services: Service[]
  /** The identities that the file is about. */
  registrations: { chainId: number; identityRegistry: Address; agentId: Uint256Input }[]
  /** Such as `reputation`; empty: the file is for discovery only. */
  supportedTrust: string[]
  /** Undefined: not said. */
  active?: boolean
  x402Support?: boolean
}

/**
 * The type of every registration file.
 *
 * @example
 * ```ts
 * import { Registration } from '@referrer/protocol'
 *
 * Registration.TYPE // → 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1'
 * ```
 */
export const TYPE = 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1'

/** The longest file and URI that are read, in characters, and the deepest nesting. */
const MAX_CHARS = 65_536
const MAX_LEVELS = 16
const MAX_ENTRIES = 32
const LONGEST = { name: 200, description: 4_000, url: 2_048, word: 64 }
const REGISTRY = /^eip155:([1-9]\d{0,14}):(0x[0-9a-fA-F]{40})$/
const DATA = /^data:([^,;]*)((?:;[^,;]*)*),/i

const read = reader('invalid_registration')

/**
 * Reads a registration file of anybody. What is missing is empty, what is wrong is left out, what is long is cut; only what is
 * no JSON object, too large or too deep is refused. All of it is text of strangers.
 *
 * @example
 * ```ts
 * import { Registration } from '@referrer/protocol'
 *
 * Registration.parse('{"name":"Weather","services":[{"name":"web","endpoint":"https://w.test"}]}').name // → 'Weather'
 * ```
 */
export function parse(text: string): Registration {
  if (text.length > MAX_CHARS) throw new ProtocolError('too_large', 'the registration file is too long')
  requireFlat(text)
  const file = read.record(parseJson(text), 'the registration file')
  // Files of earlier drafts call them endpoints.
  const services = entriesOf(file.services ?? file.endpoints).flatMap(serviceOf)
  return {
    name: cut(file.name, LONGEST.name),
    description: cut(file.description, LONGEST.description),
    image: urlOf(file.image),
    services,
    registrations: entriesOf(file.registrations).flatMap(identityOf),
    supportedTrust: entriesOf(file.supportedTrust)
      .map((one) => cut(one, LONGEST.word))
      .filter((one) => one !== ''),
    ...(typeof file.active === 'boolean' && { active: file.active }),
    ...(typeof file.x402Support === 'boolean' && { x402Support: file.x402Support }),
  }
}

/**
 * Writes a file in the standard's form, and refuses what others would not read.
 *
 * @example
 * ```ts
 * import { Registration } from '@referrer/protocol'
 *
 * const text = Registration.serialize({
 *   name: 'Weather',
 *   description: 'The weather of tomorrow',
 *   image: '',
 *   services: [{ name: 'web', endpoint: 'https://weather.test' }],
 *   registrations: [],
 *   supportedTrust: ['reputation'],
 * })
 * Registration.parse(text).services.length // → 1
 * ```
 */
export function serialize(registration: Registration): string {
  const { services, registrations, supportedTrust, active, x402Support } = registration
  for (const [what, list] of Object.entries({ services, registrations, supportedTrust })) {
    if (list.length > MAX_ENTRIES) refuse(`${what} must have ${MAX_ENTRIES} entries at most`)
  }
  const image = registration.image === '' ? '' : written(registration.image, 'image', LONGEST.url)
  if (image !== '' && urlOf(image) === '') refuse('image must be an http, https or ipfs URL')
  const text = JSON.stringify({
    type: TYPE,
    name: written(registration.name, 'name', LONGEST.name),
    description: written(registration.description, 'description', LONGEST.description),
    ...(image !== '' && { image }),
    services: services.map(({ name, endpoint, version }, at) => ({
      name: written(name, `services[${at}].name`, LONGEST.word),
      endpoint: written(endpoint, `services[${at}].endpoint`, LONGEST.url),
      ...(version !== undefined && { version: written(version, `services[${at}].version`, LONGEST.word) }),
    })),
    ...(x402Support !== undefined && { x402Support }),
    ...(active !== undefined && { active }),
    registrations: registrations.map(({ chainId, identityRegistry, agentId }) => ({
      agentId: read.integer(Number(read.uint256(agentId, 'agentId')), 'agentId'),
      agentRegistry: `eip155:${read.integer(chainId, 'chainId', 1)}:${read.address(identityRegistry, 'identityRegistry')}`,
    })),
    supportedTrust: supportedTrust.map((one) => written(one, 'supportedTrust', LONGEST.word)),
  })
  if (text.length > MAX_CHARS) throw new ProtocolError('too_large', 'the registration file is too long')
  return text
}

/**
 * A URI that holds the file itself, so that it needs no host.
 *
 * @example
 * ```ts
 * import { Registration } from '@referrer/protocol'
 *
 * Registration.toDataUri('{}') // → 'data:application/json;base64,e30='
 * ```
 */
export const toDataUri = (text: string): string =>
  `data:application/json;base64,${Base64.encode(new TextEncoder().encode(text), 'standard')}`

/**
 * The file in a data URI, base64 or not; undefined when the URI is of another scheme.
 *
 * @example
 * ```ts
 * import { Registration } from '@referrer/protocol'
 *
 * Registration.fromDataUri('data:application/json,%7B%7D') // → '{}'
 * ```
 */
export function fromDataUri(uri: string): string | undefined {
  const [head, , parameters = ''] = DATA.exec(uri) ?? []
  if (head === undefined) return undefined
  if (uri.length > MAX_CHARS * 2) throw new ProtocolError('too_large', 'the data URI is too long')
  const data = uri.slice(head.length)
  try {
    const plain = decodeURIComponent(data)
    return /;base64$/i.test(parameters) ? decodeText(Base64.decode(plain, MAX_CHARS * 2)) : plain
  } catch (cause) {
    throw new ProtocolError('invalid_registration', 'the data URI cannot be read', { cause })
  }
}

/**
 * Whether a file names this identity: a file that does not may have been written about another one.
 *
 * @example
 * ```ts
 * import { Registration } from '@referrer/protocol'
 *
 * declare const file: Registration.Registration
 * export const isMine = Registration.names(file, {
 *   chainId: 8453,
 *   identityRegistry: '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432',
 *   agentId: 7,
 * })
 * ```
 */
export const names = (
  { registrations }: Registration,
  { chainId, identityRegistry, agentId }: Registration['registrations'][number],
): boolean =>
  registrations.some(
    (one) =>
      one.chainId === chainId &&
      one.identityRegistry.toLowerCase() === identityRegistry.toLowerCase() &&
      BigInt(one.agentId) === BigInt(agentId),
  )

function refuse(what: string): never {
  throw new ProtocolError('invalid_registration', what)
}

/** Nested texts make some parsers fail, and no field is deep. */
function requireFlat(text: string): void {
  let levels = 0
  let isText = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (isText) {
      if (char === '\\') at += 1
      else if (char === '"') isText = false
    } else if (char === '"') isText = true
    else if (char === '{' || char === '[') {
      levels += 1
      if (levels > MAX_LEVELS) refuse(`the registration file is nested deeper than ${MAX_LEVELS} levels`)
    } else if (char === '}' || char === ']') levels -= 1
  }
}

const entriesOf = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, MAX_ENTRIES) : [])

/** Text without control characters and half characters; empty when it is no text. */
const cut = (value: unknown, longest: number): string =>
  typeof value === 'string'
    ? value
        .slice(0, longest)
        .toWellFormed()
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
        .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '')
        .trim()
    : ''

/** Too long is no URL any more, so it is not cut. */
const urlOf = (value: unknown): string =>
  typeof value === 'string' &&
  value.length <= LONGEST.url &&
  /^(?:https?|ipfs):\/\/[^\s\\\p{Cc}]+$/iu.test(value)
    ? value.toWellFormed()
    : ''

function serviceOf(value: unknown): Service[] {
  const { name, endpoint, version } = Object(value)
  const service = { name: cut(name, LONGEST.word), endpoint: cut(endpoint, LONGEST.url) }
  if (service.name === '' || service.endpoint === '') return []
  const shown = cut(version, LONGEST.word)
  return [{ ...service, ...(shown !== '' && { version: shown }) }]
}

function identityOf(value: unknown): Registration['registrations'] {
  const { agentId, agentRegistry } = Object(value)
  const [, chainId, registry] = (typeof agentRegistry === 'string' && REGISTRY.exec(agentRegistry)) || []
  const isId =
    (Number.isSafeInteger(agentId) && agentId >= 0) ||
    (typeof agentId === 'string' && /^(?:0|[1-9]\d{0,76})$/.test(agentId))
  if (!chainId || !registry || !isId) return []
  return [{ chainId: Number(chainId), identityRegistry: registry as Address, agentId: BigInt(agentId) }]
}

function written(value: string, what: string, longest: number): string {
  const text = read.text(value, what)
  if (cut(text, longest) !== text || text === '') {
    refuse(
      `${what} must be a text of 1 to ${longest} characters, without control characters or blanks around it`,
    )
  }
  return text
}
