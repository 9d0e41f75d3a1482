import type { Config } from '../../kit/config.ts'
import type { Context } from '../../kit/context.ts'
import { answererOf, commands } from './answer.ts'
import type { Messenger, Reception } from './reception.ts'
import { openTelegram } from './telegram/telegram.ts'
import { openWebhook } from './webhook/webhook.ts'

/** The messengers of this deployment. Links made without naming a messenger lead to the first one. */
export function openMessengers({ messenger }: Config, fetch: typeof globalThis.fetch): Messenger[] {
  const menu = commands.map(({ name, about }) => ({ command: name, description: about }))
  const { telegram, webhook } = messenger ?? {}
  return [
    ...(telegram ? [openTelegram(telegram, { fetch, menu })] : []),
    ...(webhook ? [openWebhook(webhook, fetch)] : []),
  ]
}

/** How the messages of all messengers come in: a messenger that posts to us needs the role `api`, one that is polled `workers`. */
export function receiveMessages(context: Context, messengers: readonly Messenger[]): Reception {
  const answer = answererOf(context)
  const receptions = messengers
    .map((messenger) => messenger.receive(context, answer))
    .filter(({ hooks }) => context.config.roles.has(hooks.length > 0 ? 'api' : 'workers'))
  return {
    workers: receptions.flatMap(({ workers }) => workers),
    hooks: receptions.flatMap(({ hooks }) => hooks),
  }
}
