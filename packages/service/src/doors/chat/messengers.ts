import type { Config } from '../../kit/config.ts'
import type { Context } from '../../kit/context.ts'
import { answererOf, commands } from './answer.ts'
import type { Messenger, Reception } from './reception.ts'
import { openWebhook } from './webhook/webhook.ts'

/** The messengers of this deployment. Links made without naming a messenger lead to the first one. */
export async function openMessengers(
  { messenger }: Config,
  fetch: typeof globalThis.fetch,
): Promise<Messenger[]> {
  const menu = commands.map(({ name, about }) => ({ command: name, description: about }))
  const { telegram, webhook } = messenger ?? {}
  // Telegram's client is a large library: only those who use it load it.
  const opened = telegram && (await import('./telegram/telegram.ts')).openTelegram(telegram, { fetch, menu })
  return [...(opened ? [opened] : []), ...(webhook ? [openWebhook(webhook, fetch)] : [])]
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
