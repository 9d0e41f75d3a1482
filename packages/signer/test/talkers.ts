// An owner in a chat: with the stand-in of Telegram, or with a messenger of the operator's own.
import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from '@referrer/service/testing'
import type { Telegram } from '@referrer/telegram-stand-in'

export interface Shown {
  text: string
  /** Labels of the buttons. */
  buttons: string[]
}

export interface Talker {
  /** Sends a message, and returns the bot's answer. */
  say(text: string): Promise<Shown>
  /** Presses a button of the newest message that has it, and returns the answer. */
  press(label: string): Promise<Shown>
  /** What the bot has sent by itself. */
  notices(): Shown[]
}

/** Answers replace the message whose button was pressed, and are otherwise new messages; a message that is neither is a notice. */
export function onTelegram(telegram: Telegram): Talker {
  const person = telegram.user({ firstName: 'Olga', username: 'olga' })
  const answers = new Set<number>()
  const byBot = () => person.messages().filter(({ from }) => from.is_bot)
  type Sent = ReturnType<typeof byBot>[number]
  const shown = ({ text = '', reply_markup }: Sent): Shown => ({
    text,
    buttons: (reply_markup?.inline_keyboard ?? []).flat().map((button) => button.text),
  })
  return {
    async say(text) {
      const { message_id: said } = person.say(text)
      const answer = await person.until((messages) =>
        messages.find(({ from, message_id }) => from.is_bot && message_id > said),
      )
      answers.add(answer.message_id)
      return shown(answer)
    },
    async press(label) {
      const message = byBot().findLast((one) => shown(one).buttons.includes(label))
      if (!message) throw new Error(`no message has a button "${label}"`)
      person.press(message.message_id, label)
      const changed = await person.until((messages) =>
        messages.find(({ message_id, text }) => message_id === message.message_id && text !== message.text),
      )
      return shown(changed)
    },
    notices: () =>
      byBot()
        .filter(({ message_id }) => !answers.has(message_id))
        .map(shown),
  }
}

interface Posted {
  text: string
  /** In rows. */
  buttons: { label: string; data: string }[][]
}

export interface OwnMessenger {
  url: string
  talker(serviceUrl: string, now: () => number): Talker
  close(): Promise<void>
}

/** A messenger that exchanges signed JSON with the service. It takes a message once for each idempotency key. */
export async function startOwnMessenger(secret: string): Promise<OwnMessenger> {
  const taken = new Map<string, Posted>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const { 'x-referrer-timestamp': timestamp, 'x-referrer-signature': signature } = request.headers
    if (signature !== sign(secret, String(timestamp), body)) return void response.writeHead(401).end()
    taken.set(String(request.headers['idempotency-key']), JSON.parse(body))
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    talker(serviceUrl, now) {
      const answers: Posted[] = []
      const shown = ({ text, buttons }: Posted): Shown => ({
        text,
        buttons: buttons.flat().map(({ label }) => label),
      })
      async function post(content: { text: string } | { pressed: string }): Promise<Shown> {
        const body = JSON.stringify({ id: randomUUID(), chat: 'olga', ...content })
        const timestamp = String(Math.floor(now() / 1_000))
        const headers = {
          'x-referrer-timestamp': timestamp,
          'x-referrer-signature': sign(secret, timestamp, body),
        }
        const response = await fetch(`${serviceUrl}/chat/webhook`, { method: 'POST', headers, body })
        if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
        const answer: Posted = await response.json()
        answers.push(answer)
        return shown(answer)
      }
      return {
        say: (text) => post({ text }),
        press(label) {
          const buttons = [...answers, ...taken.values()].flatMap((one) => one.buttons.flat())
          const button = buttons.findLast((one) => one.label === label)
          if (!button) throw new Error(`no message has a button "${label}"`)
          return post({ pressed: button.data })
        },
        notices: () => [...taken.values()].map(shown),
      }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const sign = (secret: string, timestamp: string, body: string) =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`

/** Waits until the bot has sent so many messages by itself, and returns the last one. */
export async function noticed(talker: Talker, count: number): Promise<Shown> {
  await until(async () => talker.notices().length >= count, `${count} messages`)
  const last = talker.notices()[count - 1]
  if (!last) throw new Error('no message')
  return last
}
