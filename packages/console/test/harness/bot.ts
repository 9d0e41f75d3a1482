// The messenger of the sandbox, as one of its people uses it.
import type { RunningSandbox } from './market.ts'

/** What the chat's page is told of a message. */
interface ShownMessage {
  text: string
  entities: { type: string; url?: string; offset: number; length: number }[]
  buttons: { url?: string }[][]
  asksToLink: boolean
}

export async function say({ state }: RunningSandbox, person: string, text: string): Promise<void> {
  const response = await fetch(`${state.chatUrl}/say`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ person, text }),
  })
  if (!response.ok) throw new Error(`the chat refused: ${response.status} ${await response.text()}`)
}

/** The address that the newest message of the bot asks the person to open. */
export async function linkFromBot({ state }: RunningSandbox, person: string): Promise<URL> {
  const response = await fetch(`${state.chatUrl}/events`)
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    const events = text.split('\n\n').slice(0, -1)
    for (const event of events.filter((one) => one.startsWith('event: chat\n'))) {
      const chat = JSON.parse(event.slice(event.indexOf('data: ') + 6))
      const newest: ShownMessage | undefined = chat.messages.at(-1)
      const url = newest?.asksToLink && chat.person === person && addressIn(newest)
      if (url) return url
    }
  }
  throw new Error(`the stream ended: ${text}`)
}

function addressIn({ text, entities, buttons }: ShownMessage): URL | undefined {
  const addresses = [
    ...buttons.flat().map(({ url }) => url),
    ...entities.map(({ type, url, offset, length }) =>
      type === 'url' ? text.slice(offset, offset + length) : url,
    ),
  ]
  return (
    addresses.map((address) => URL.parse(address ?? '')).find((url) => url?.pathname === '/link') ?? undefined
  )
}
