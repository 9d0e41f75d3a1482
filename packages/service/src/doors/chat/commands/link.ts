// Linking wallets to the chat, and ending links.
import type { Address } from 'viem'
import {
  mintForChat,
  redeemInChat,
  unlinkFromChat,
  type Wallet,
  walletsOfChat,
} from '../../../market/messenger/operations.ts'
import type { Answer, Command } from './command.ts'

const GETS =
  'This chat now gets a message for each purchase of its agents, and reminders of reviews. Send /help to see what else I do.'

const start: Answer = async ({ context, chat, words }) => {
  if (words === '') {
    const { url, expiresAt } = await mintForChat(context, chat)
    return {
      text: `To link your wallet to this chat, open this page and sign with the wallet:\n\n${url}\n\nThe link works once, until ${expiresAt.toISOString().slice(11, 16)} UTC. Do not pass it on: whoever opens it links a wallet to this chat.`,
    }
  }
  const wallet = await redeemInChat(context, chat, words)
  if (wallet)
    return { text: `Linked: ${wallet.address}\n\n${GETS}${wallet.mayBuy ? '' : `\n\n${NOTICES_ONLY}`}` }
  // A messenger may deliver a message again after the code has linked the wallet.
  const linked = await walletsOfChat(context, chat)
  const already = linked.length > 0 ? `\n\nAlready linked to this chat:\n${linked.map(shown).join('\n')}` : ''
  return {
    text: `This code is invalid or expired. Make a new one where you got it, or send /start to begin here.${already}`,
  }
}

const NOTICES_ONLY =
  'It gets messages only. To ask for purchases here, too, send /start and confirm it with your wallet.'

const shown = ({ address, mayBuy }: Wallet) => (mayBuy ? address : `${address} (messages only)`)

const status: Answer = async ({ context, chat }) => {
  const wallets = await walletsOfChat(context, chat)
  if (wallets.length === 0) return { text: 'No wallet is linked to this chat. Send /start to link one.' }
  return {
    text: `${wallets.length === 1 ? 'This wallet is' : 'These wallets are'} linked to this chat:\n${wallets.map(shown).join('\n')}\n\nSend /unlink to end a link.`,
  }
}

const unlink: Answer = async ({ context, chat, words }) => {
  const wallets = (await walletsOfChat(context, chat)).map(({ address }) => address)
  if (wallets.length === 0)
    return { text: 'No wallet is linked to this chat, so there is nothing to unlink.' }
  const chosen = wallets.filter((wallet) => wallet.toLowerCase().startsWith(words.toLowerCase()))
  const [wallet] = chosen
  if (wallet && chosen.length === 1) {
    await unlinkFromChat(context, chat, wallet)
    return { text: `Unlinked: ${wallet}\n\nThis chat gets no more messages about it.` }
  }
  if (chosen.length === 0) return { text: `No wallet of this chat begins with that.\n\n${choice(wallets)}` }
  return { text: `Which wallet?\n\n${choice(chosen)}`, buttons: chosen.slice(0, 8).map(unlinkButton) }
}

const choice = (wallets: readonly Address[]) =>
  `Send /unlink and the address, or as much of its beginning as no other has:\n${wallets.join('\n')}`

const unlinkButton = (wallet: Address) => [
  { label: `Unlink ${wallet.slice(0, 8)}…${wallet.slice(-4)}`, data: `u:${wallet}` },
]

export const linkCommands: readonly Command[] = [
  { name: 'start', takes: '[code]', about: 'link a wallet to this chat', answer: start },
  { name: 'status', about: 'which wallets are linked to this chat', answer: status },
  {
    name: 'unlink',
    takes: '[address]',
    about: 'end the link of a wallet; this alone stops the messages',
    answer: unlink,
    buttons: { u: unlink },
  },
]
