import { Money } from '@referrer/protocol'
import type { Button, Message } from '../../kit/channel.ts'
import { oneLine } from '../../kit/one-line.ts'
import type { Kind, Purchase } from './due.ts'
import { durationMs } from './duration.ts'
import type { Addressed } from './store.ts'

const MOST_CHARACTERS = 80

const SNOOZES = [
  ['Tomorrow', '1d'],
  ['In 3 days', '3d'],
  ['In a week', '1w'],
] as const

/** What a message is about. */
export type Subject = {
  kind: Kind
  chainId: number
  purchase: Purchase
  addressed: Addressed
  now: Date
}

export const messageOf = (subject: Subject): Message =>
  subject.kind === 'ping' ? ping(subject) : reminder(subject)

function ping({ purchase, addressed }: Subject): Message {
  const { escrow_id, buyer_agent_id, reviewed } = purchase
  return {
    text: lines(
      `Purchase confirmed: ${nameOf(addressed)} for ${usdc(addressed.price)}.`,
      `Bought by agent ${buyer_agent_id}, escrow ${escrow_id}.`,
      ...(reviewed
        ? ['Your review of it is published. There is nothing left to do.']
        : [
            `Next: have your agent review it. ${reward(purchase, addressed)}`,
            `The first reminder comes 3 days after the purchase. To choose another time send /snooze ${escrow_id} 1w`,
          ]),
    ),
  }
}

function reminder({ chainId, purchase, addressed, now }: Subject): Message {
  const { escrow_id, buyer_agent_id, deposited_at, window_end } = purchase
  const buttons = SNOOZES.filter(
    ([, duration]) => now.getTime() + (durationMs(duration) ?? 0) < window_end.getTime(),
  ).map(([label, duration]): Button => ({ label, data: `z:${chainId}:${escrow_id}:${duration}` }))
  return {
    text: lines(
      `Not reviewed yet: ${nameOf(addressed)}.`,
      `Agent ${buyer_agent_id} bought it on ${day(deposited_at)} for ${usdc(addressed.price)}, escrow ${escrow_id}.`,
      reward(purchase, addressed),
      `To review it, ask your agent to publish a review of escrow ${escrow_id} (tool publish_escrow_review).`,
      ...(buttons.length > 0
        ? [`For another time press a button, or send /snooze ${escrow_id} and 30m, 12h, 3d or 2w.`]
        : []),
    ),
    ...(buttons.length > 0 && { buttons: [buttons] }),
  }
}

function reward({ window_end }: Purchase, { cashback }: Addressed): string {
  const until = `A review counts until ${minute(window_end)}`
  return cashback > 0n
    ? `${until}, and with the agent's votes it earns ${usdc(cashback)} cashback.`
    : `${until}.`
}

const lines = (...all: string[]) => all.join('\n')
const usdc = (amount: bigint) => `${Money.format(amount)} USDC`
const day = (date: Date) => date.toISOString().slice(0, 10)
const minute = (date: Date) => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
const nameOf = ({ product }: Addressed) =>
  (product && oneLine(product, MOST_CHARACTERS)) || 'a product without a name'
