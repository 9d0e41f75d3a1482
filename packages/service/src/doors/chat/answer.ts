// Answers what people send in a chat. Which messenger it is does not matter here.
import type { Message } from '../../kit/channel.ts'
import type { Context } from '../../kit/context.ts'
import { buyCommand } from './commands/buy.ts'
import type { Command } from './commands/command.ts'
import { linkCommands } from './commands/link.ts'
import { snoozeCommand } from './commands/snooze.ts'
import type { Answerer, Incoming } from './reception.ts'

/** A command and what follows it; a messenger may have added the bot's name to the command. */
const COMMAND = /^\/([a-z]+)(?:@\w+)?(?:\s+([\s\S]*))?$/i
const PRESSED = /^([a-z]):([\s\S]*)$/

const helpText = () =>
  `I do this:\n${commands.map(({ name, takes, about }) => `/${name}${takes ? ` ${takes}` : ''}: ${about}`).join('\n')}\n\nSpending caps are set with the wallet alone, never here.`

const help: Command = {
  name: 'help',
  about: 'what I do',
  answer: async () => ({ text: helpText() }),
}

/** All commands, in the order of the menu. */
export const commands: readonly Command[] = [...linkCommands, buyCommand, snoozeCommand, help]

const FAILED = {
  text: 'Something went wrong on our side. Send it again in a minute; nothing is done twice.',
}

export const answererOf = (context: Context): Answerer =>
  async function answer(incoming) {
    try {
      return await answerTo(context, incoming)
    } catch (error) {
      context.log.error(
        { err: error, channel: incoming.channel.name },
        'a message in a chat was not answered',
      )
      return { ...FAILED, isApart: true }
    }
  }

async function answerTo(context: Context, { channel, chat, text, pressed }: Incoming): Promise<Message> {
  const asked = { context, chat: { channel: channel.name, chat } }
  if (pressed !== undefined) {
    const [, letter = '', words = ''] = PRESSED.exec(pressed) ?? []
    const button = commands.map(({ buttons }) => buttons?.[letter]).find((found) => found !== undefined)
    return button ? button({ ...asked, words }) : { text: 'This button is no longer valid.' }
  }
  const [, name = '', words = ''] = COMMAND.exec(text.trim()) ?? []
  const command = commands.find((known) => known.name === name.toLowerCase())
  return command
    ? command.answer({ ...asked, words: words.trim() })
    : { text: `I did not understand that.\n\n${helpText()}` }
}
