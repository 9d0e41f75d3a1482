// Messages of A2A as they are written in its versions 1.0 and 0.3, and the errors of both.
import { randomUUID } from 'node:crypto'
import type { Json } from '@referrer/process/openapi'

export type Version = '1.0' | '0.3'

/** What a message asks for. */
export type Wish = { text: string } | { data: Json }

export interface Asked {
  wish: Wish
  contextId: string | undefined
  /** Whether the client takes data; if it does not, data is sent as text. */
  takesData: boolean
}

export type Reply = { text: string; data?: Json }

/** Error codes of JSON-RPC and of A2A, with the name that version 1.0 gives to the latter. */
export const ERRORS = {
  parse: { code: -32_700 },
  request: { code: -32_600 },
  method: { code: -32_601 },
  params: { code: -32_602 },
  internal: { code: -32_603 },
  task: { code: -32_001, reason: 'TASK_NOT_FOUND' },
  push: { code: -32_003, reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' },
  operation: { code: -32_004, reason: 'UNSUPPORTED_OPERATION' },
  contentType: { code: -32_005, reason: 'CONTENT_TYPE_NOT_SUPPORTED' },
  extendedCard: { code: -32_007, reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' },
  version: { code: -32_009, reason: 'VERSION_NOT_SUPPORTED' },
} as const

export class A2aError extends Error {
  readonly kind: keyof typeof ERRORS

  constructor(kind: keyof typeof ERRORS, message: string) {
    super(message)
    this.kind = kind
  }
}

export function errorOf({ kind, message }: A2aError): Json {
  const { code, ...named } = ERRORS[kind]
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...named, domain: 'a2a-protocol.org' }
  return { code, message, ...('reason' in named && { data: [info] }) }
}

/** The version of the header `A2A-Version`. None means 0.3, whose clients do not send it; patch versions make no difference. */
export function versionOf(given: string | undefined): Version {
  const version = (given?.trim() || '0.3').replace(/^(\d+\.\d+)\.\d+$/, '$1')
  if (version === '1.0' || version === '0.3') return version
  throw new A2aError('version', 'this agent speaks A2A 1.0 and 0.3')
}

const MOST_PARTS = 20
const MOST_ID = 200
const ROLES: unknown[] = ['ROLE_USER', 'user']

/** Reads the parameters of `SendMessage` (1.0) or `message/send` (0.3), which differ in names only. */
export function askedIn(params: unknown): Asked {
  const { message, configuration } = Object(params) as Json
  const { messageId, role, parts, contextId, taskId } = Object(message) as Json
  if (!isId(messageId)) throw invalid(`message.messageId must be a text of 1 to ${MOST_ID} characters`)
  if (!ROLES.includes(role)) throw invalid('message.role must be that of the user')
  if (contextId && !isId(contextId)) throw invalid(`message.contextId has at most ${MOST_ID} characters`)
  if (taskId) throw new A2aError('task', 'there are no tasks here: every message is answered at once')
  const { acceptedOutputModes: modes, ...wanted } = Object(configuration) as Json
  if (wanted.taskPushNotificationConfig || wanted.pushNotificationConfig) {
    throw new A2aError('push', 'there are no push notifications here: every message is answered at once')
  }
  const takesData = !Array.isArray(modes) || modes.length === 0 || modes.includes('application/json')
  return { wish: wishOf(parts), contextId: contextId ? String(contextId) : undefined, takesData }
}

function wishOf(parts: unknown): Wish {
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > MOST_PARTS) {
    throw invalid(`message.parts must be 1 to ${MOST_PARTS} parts`)
  }
  const texts: string[] = []
  const data: unknown[] = []
  for (const part of parts) {
    const { text, data: value } = Object(part) as Json
    if (typeof text === 'string') texts.push(text)
    else if (value !== undefined) data.push(value)
    else throw new A2aError('contentType', 'only parts with text or data are read here')
  }
  if (data.length === 0) return { text: texts.join('\n') }
  const [only] = data
  if (data.length > 1 || typeof only !== 'object' || only === null || Array.isArray(only)) {
    throw invalid('send one data part, an object')
  }
  return { data: only as Json }
}

const isId = (value: unknown) => typeof value === 'string' && value.length > 0 && value.length <= MOST_ID

const invalid = (message: string) => new A2aError('params', message)

/** The result of `SendMessage` or `message/send`. */
export function resultOf(version: Version, { contextId, takesData }: Asked, { text, data }: Reply): Json {
  const texts = data && !takesData ? [text, JSON.stringify(data)] : [text]
  const common = { messageId: randomUUID(), ...(contextId && { contextId }) }
  if (version === '1.0') {
    const parts = [
      ...texts.map((one) => ({ text: one, mediaType: 'text/plain' })),
      ...(data && takesData ? [{ data, mediaType: 'application/json' }] : []),
    ]
    return { message: { ...common, role: 'ROLE_AGENT', parts } }
  }
  const parts = [
    ...texts.map((one) => ({ kind: 'text', text: one })),
    ...(data && takesData ? [{ kind: 'data', data }] : []),
  ]
  return { kind: 'message', ...common, role: 'agent', parts }
}
