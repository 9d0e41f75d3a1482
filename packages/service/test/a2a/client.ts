// Calls the A2A endpoint over real HTTP, with the official client of version 1.0 and in its form for agents of version 0.3.
import { randomUUID } from 'node:crypto'
import { type Message, type Part, Role } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  type ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client'
import { BASE_URL } from '../http/caller.ts'

export interface A2aService {
  url: string
}

/** The card names the public address of the market, which tests reach elsewhere. */
const reaching = (service: A2aService, asOf03: boolean): typeof fetch =>
  async function there(input, init) {
    const answer = await fetch(String(input).replace(BASE_URL, service.url), init)
    if (!asOf03 || !String(input).endsWith('agent-card.json')) return answer
    // What a client of version 0.3 sees of the card: it knows nothing of the list of interfaces.
    const { supportedInterfaces: _, ...card } = (await answer.json()) as Record<string, unknown>
    return Response.json(card)
  }

export async function connectA2a(service: A2aService, { asOf03 = false } = {}): Promise<Client> {
  const fetchImpl = reaching(service, asOf03)
  const legacyCompat = { enabled: asOf03 }
  const options: ClientFactoryOptions = {
    transports: [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl, legacyCompat }),
  }
  return new ClientFactory(options).createFromUrl(service.url)
}

export type Content = { text: string } | { data: unknown } | { url: string }

/** A message of the user. */
export const messageOf = (parts: Content[], more: Partial<Message> = {}) => ({
  tenant: '',
  configuration: undefined,
  metadata: undefined,
  message: {
    ...{ messageId: randomUUID(), contextId: '', taskId: '', metadata: undefined },
    ...{ role: Role.ROLE_USER, extensions: [], referenceTaskIds: [] },
    parts: parts.map(partOf),
    ...more,
  },
})

function partOf(content: Content): Part {
  const [$case, value] = Object.entries(content)[0] as ['text', string]
  return { content: { $case, value }, metadata: undefined, filename: '', mediaType: '' }
}

export interface Said {
  texts: string[]
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  data: any
  contextId: string
}

/** Sends a message and reads the message that it is answered with. */
export async function say(client: Client, parts: Content[], more: Partial<Message> = {}): Promise<Said> {
  const answer = (await client.sendMessage(messageOf(parts, more))) as Message
  if (answer.role !== Role.ROLE_AGENT || !answer.messageId) throw new Error('this is no message of an agent')
  const of = (kind: string) =>
    answer.parts.flatMap(({ content }) => (content?.$case === kind ? [content.value] : []))
  const [data, ...others] = of('data')
  if (others.length > 0) throw new Error('more data than one part')
  return { texts: of('text') as string[], data, contextId: answer.contextId }
}
