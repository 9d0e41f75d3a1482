import type { Channel, Delivery, Message } from '../../src/kit/channel.ts'

/** A messenger behind HTTP: anything but an answer leaves open whether the message arrived. */
export class HttpChannel implements Channel {
  readonly name: string
  readonly deduplicates: boolean
  readonly mostAttempts = Number.POSITIVE_INFINITY
  readonly #url: string

  constructor(name: string, url: string, deduplicates: boolean) {
    this.name = name
    this.#url = url
    this.deduplicates = deduplicates
  }

  deepLink(code: string): string {
    return `${this.#url}/${code}`
  }

  async send(chat: string, message: Message, key: string): Promise<Delivery> {
    try {
      const body = JSON.stringify({ channel: this.name, chat, text: message.text, key })
      const { ok, status } = await fetch(this.#url, { method: 'POST', body })
      return ok ? { state: 'sent' } : { state: 'retry', reason: `status ${status}` }
    } catch (error) {
      return { state: 'unsure', reason: String(error) }
    }
  }

  async identify(): Promise<undefined> {}
}
