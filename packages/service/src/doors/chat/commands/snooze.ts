// Putting off the reminder of one purchase.
import { snooze } from '../../../derived/notices/operations.ts'
import { walletsOfChat } from '../../../market/messenger/operations.ts'
import type { Answer, Asked, Command } from './command.ts'

/** The same for every refusal, so that nobody learns anything about purchases of others. */
const REFUSED = {
  text: 'I cannot do that. Send /snooze, the escrow id and a duration, such as /snooze 41 3d (30m, 12h, 3d, 2w). It must be a purchase of a wallet of this chat that is not reviewed yet, and the new time must lie within the 60 days after it.',
}

const bySend: Answer = (asked) => {
  const [, escrowId, duration] = /^#?(\d{1,18})\s+(\w{1,8})$/.exec(asked.words) ?? []
  return answer(asked, { escrowId, duration })
}

const byButton: Answer = (asked) => {
  const [, chainId, escrowId, duration] = /^(\d{1,15}):(\d{1,18}):(\w{1,8})$/.exec(asked.words) ?? []
  return answer(asked, { chainId: Number(chainId), escrowId, duration })
}

interface Wanted {
  chainId?: number
  escrowId: string | undefined
  duration: string | undefined
}

async function answer({ context, chat }: Asked, { escrowId, duration, ...chain }: Wanted) {
  if (escrowId === undefined || duration === undefined) return REFUSED
  const wallets = (await walletsOfChat(context, chat)).map(({ address }) => address)
  const until = await snooze(context, wallets, { ...chain, escrowId: BigInt(escrowId) }, duration)
  if (!until) return REFUSED
  const when = until.toISOString().slice(0, 16).replace('T', ' ')
  return { text: `I remind you of escrow ${escrowId} again on ${when} UTC.` }
}

export const snoozeCommand: Command = {
  name: 'snooze',
  takes: '<escrow id> <duration>',
  about: 'be reminded of a purchase later, such as /snooze 41 3d',
  answer: bySend,
  buttons: { z: byButton },
}
