import { badRequest } from './api-error.ts'
import { isAddress } from './html.ts'
import { isRecord, json, type Params } from './params.ts'
import type { Button, Keyboard } from './types.ts'

const MOST_BYTES_OF_DATA = 64
const MOST_BUTTONS = 100

/** Undefined where none is given, or an empty one, which removes the keyboard that a message has. */
export function readKeyboard(params: Params): Keyboard | undefined {
  const markup = json(params, 'reply_markup')
  if (markup === undefined) return undefined
  if (!isRecord(markup)) throw badRequest("can't parse reply keyboard markup JSON object")
  const rows = markup.inline_keyboard
  // Keyboards below the field of the text, and forced replies: nothing that this stand-in shows.
  if (rows === undefined) return undefined
  if (!Array.isArray(rows) || !rows.every(Array.isArray))
    throw badRequest("can't parse inline keyboard: it must be an Array of Arrays")
  const keyboard = rows.filter((row) => row.length > 0).map((row: unknown[]) => row.map(readButton))
  if (keyboard.flat().length > MOST_BUTTONS) throw badRequest('REPLY_MARKUP_TOO_LONG')
  return keyboard.length > 0 ? { inline_keyboard: keyboard } : undefined
}

function readButton(value: unknown): Button {
  if (!isRecord(value) || typeof value.text !== 'string')
    throw badRequest('can\'t parse inline keyboard button: Can\'t find field "text"')
  const { text, callback_data: data, url } = value
  if (text === '') throw badRequest('inline keyboard button text must be non-empty')
  if (typeof url === 'string') {
    if (!isAddress(url)) throw badRequest(`inline keyboard button URL '${url}' is invalid: Wrong HTTP URL`)
    return { text, url }
  }
  if (typeof data !== 'string')
    throw badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
  const bytes = Buffer.byteLength(data)
  if (bytes === 0 || bytes > MOST_BYTES_OF_DATA) throw badRequest('BUTTON_DATA_INVALID')
  return { text, callback_data: data }
}
