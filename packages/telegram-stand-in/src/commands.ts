import { badRequest } from './api-error.ts'
import { isRecord, json, list, type Params, text } from './params.ts'
import type { Command } from './types.ts'

const COMMAND = /^[a-z0-9_]{1,32}$/
const MOST_COMMANDS = 100
const LONGEST_DESCRIPTION = 256

/** The menus of the bot, one for each scope and language. */
export interface Commands {
  set(params: Params): true
  get(params: Params): Command[]
  delete(params: Params): true
  /** What a person sees in a chat with the bot. */
  shown(): Command[]
}

export function createCommands(): Commands {
  const menus = new Map<string, Command[]>()
  const keyOf = (params: Params) => {
    const scope = json(params, 'scope') ?? { type: 'default' }
    if (!isRecord(scope) || typeof scope.type !== 'string') throw badRequest("can't parse BotCommandScope")
    const { type, chat_id: chat = '', user_id: user = '' } = scope
    return [type, chat, user, text(params, 'language_code')].join(' ')
  }
  const menu = (type: string) => menus.get(keyOf({ scope: { type } }))
  return {
    set(params) {
      const commands = list(params, 'commands') ?? []
      if (commands.length > MOST_COMMANDS) throw badRequest('BOT_COMMANDS_TOO_MUCH')
      menus.set(keyOf(params), commands.map(readCommand))
      return true
    },
    get: (params) => menus.get(keyOf(params)) ?? [],
    delete(params) {
      menus.delete(keyOf(params))
      return true
    },
    shown: () => menu('all_private_chats') ?? menu('default') ?? [],
  }
}

function readCommand(value: unknown): Command {
  if (!isRecord(value)) throw badRequest("can't parse BotCommand")
  const command = text(value, 'command').replace(/^\//, '')
  const description = text(value, 'description')
  if (!COMMAND.test(command)) throw badRequest('BOT_COMMAND_INVALID')
  if (description === '' || description.length > LONGEST_DESCRIPTION)
    throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID')
  return { command, description }
}
