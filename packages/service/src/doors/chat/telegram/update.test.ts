import { describe, expect, it } from 'vitest'
import { ALICE, inPrivate, MALFORMED, STRANGE } from '../../../../test/chat/updates.ts'
import { readUpdate } from './update.ts'

const chat = String(ALICE.id)
const message = (content: object) => readUpdate({ update_id: 1, message: { ...inPrivate, ...content } })
const press = (shown: object, data = 'p:1') =>
  readUpdate({
    callback_query: { id: 'c', from: ALICE, chat_instance: '1', data, message: { ...inPrivate, ...shown } },
  })

describe('an update', () => {
  it('is a text in a private chat', () => {
    expect(message({ text: '/start@stand_in_bot abc' })).toEqual({
      kind: 'message',
      chat,
      text: '/start@stand_in_bot abc',
    })
    expect(message({ text: '' })).toEqual({ kind: 'message', chat, text: '' })
  })

  it.each(['sticker', 'photo', 'voice', 'contact', 'location', 'poll', 'dice', 'story'])(
    'is a message without text that somebody sent: a %s',
    (content) => {
      expect(message({ [content]: {} })).toEqual({ kind: 'message', chat, text: '' })
    },
  )

  it('has no text where the words are somebody else’s', () => {
    const forward_origin = { type: 'user', sender_user: ALICE }
    expect(message({ text: '/unlink', forward_origin })).toEqual({ kind: 'message', chat, text: '' })
    expect(message({ text: '/unlink', via_bot: {} })).toEqual({ kind: 'message', chat, text: '' })
  })

  it('is cut, and has nothing that Postgres cannot store', () => {
    const { text = '' } = message({ text: `a\0${'😀'.repeat(5_000)}` }) as { text?: string }
    expect(text.length).toBeLessThanOrEqual(4_096)
    expect([text.isWellFormed(), text.includes('\0')]).toEqual([true, false])
    expect(press({}, 'x'.repeat(1_000))).toMatchObject({ data: 'x'.repeat(64) })
  })

  it('is a pressed button, of a message that can be changed or not', () => {
    const pressed = { kind: 'pressed', chat, queryId: 'c', data: 'p:1' }
    expect(press({})).toEqual({ ...pressed, messageId: 1 })
    expect(press({ date: 0 })).toEqual(pressed)
  })

  it.each(['kicked', 'left'])('tells that the bot is blocked: %s', (status) => {
    const change = { chat: inPrivate.chat, new_chat_member: { status } }
    expect(readUpdate({ my_chat_member: change })).toEqual({ kind: 'blocked', chat })
  })

  it('tells that the bot is unblocked, or in a group', () => {
    const new_chat_member = { status: 'member' }
    expect(readUpdate({ my_chat_member: { chat: inPrivate.chat, new_chat_member } })).toEqual({
      kind: 'unblocked',
      chat,
    })
    for (const status of ['member', 'administrator', 'restricted']) {
      const chat = { id: -5, type: 'channel' }
      expect(readUpdate({ my_chat_member: { chat, new_chat_member: { status } } })).toEqual({
        kind: 'joined',
        group: -5,
      })
    }
  })

  it.each(Object.entries(STRANGE))('of the kind %s can mean nothing to the bot', (kind, content) => {
    expect(readUpdate({ update_id: 1, [kind]: content })).toBeUndefined()
  })

  it.each(MALFORMED)('means nothing: %s', (_, update) => {
    expect(readUpdate(update)).toBeUndefined()
  })
})
