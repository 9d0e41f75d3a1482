import fc from 'fast-check'
import { Api, type GrammyError } from 'grammy'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Person, startTelegram, type Telegram, tooManyRequests } from './index.ts'

describe('messages of a bot', () => {
  let telegram: Telegram
  let api: Api
  let alice: Person

  beforeAll(async () => {
    telegram = await startTelegram()
    api = new Api(telegram.token, { apiRoot: telegram.url })
  })
  afterAll(() => telegram?.close())
  beforeEach(() => {
    alice = telegram.user({ firstName: 'Alice', username: 'alice' })
    alice.say('/start')
  })

  const refusal = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'none',
      (error: GrammyError) => `${error.error_code} ${error.description}`,
    )
  const send = (text: string, options = {}) => api.sendMessage(alice.id, text, options)
  const html = (text: string) => send(text, { parse_mode: 'HTML' })
  const buttons = (...row: object[]) => ({ reply_markup: { inline_keyboard: [row] } as never })

  describe('with HTML', () => {
    it('show its text, and its styles as entities that count UTF-16 units', async () => {
      const { text, entities } = await html(
        '<b>Ün 😀 <i>bold</i></b> &lt;tag&gt; &amp;amp &#33; <a href="https://shop.example/?a=1&amp;b=2">here</a>\n<pre><code class="language-ts">x</code></pre>',
      )
      expect(text).toBe('Ün 😀 bold <tag> &amp ! here\nx')
      expect(entities).toEqual([
        { type: 'bold', offset: 0, length: 10 },
        { type: 'italic', offset: 6, length: 4 },
        { type: 'text_link', offset: 24, length: 4, url: 'https://shop.example/?a=1&b=2' },
        { type: 'pre', offset: 29, length: 1, language: 'ts' },
      ])
    })

    it.each([
      ['a < b', 'Unclosed start tag at byte offset 2'],
      ['a <3 you > me', 'Unsupported start tag "3" at byte offset 2'],
      ['ü<script>x</script>', 'Unsupported start tag "script" at byte offset 2'],
      ['one<br/>two', 'Unsupported start tag "br/" at byte offset 3'],
      ['<constructor>', 'Unsupported start tag "constructor" at byte offset 0'],
      ['<b>x', 'Can\'t find end tag corresponding to start tag "b"'],
      ['x</b>', 'Unexpected end tag at byte offset 1'],
      ['<b>x</b', 'Unclosed end tag at byte offset 4'],
      ['<b><i>x</b></i>', 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
      ['<span>x</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
    ])('are refused when it is broken: %s', async (text, why) => {
      expect(await refusal(html(text))).toBe(`400 Bad Request: can't parse entities: ${why}`)
    })

    it('show any text whose three characters were escaped', async () => {
      const escaped = (text: string) =>
        text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
      const visible = fc.string({ unit: fc.constantFrom(...'<>&"\'/=;#ab 1😀'), minLength: 1 })
      await fc.assert(
        fc.asyncProperty(visible, async (text) => {
          fc.pre(text.trim() !== '')
          expect((await html(escaped(text))).text).toBe(text.trim())
        }),
        { numRuns: 50 },
      )
    })

    it('lose a link that leads to no host on the Internet', async () => {
      const { text, entities } = await html('<a href="http://localhost:8080/">here</a>')
      expect(text).toBe('here')
      expect(entities).toBeUndefined()
    })
  })

  it('have 1 to 4,096 characters', async () => {
    expect(await refusal(send(''))).toBe('400 Bad Request: message text is empty')
    expect(await refusal(send(' \n'))).toBe('400 Bad Request: message text is empty')
    expect(await refusal(html('<b></b>'))).toBe('400 Bad Request: message text is empty')
    expect((await send('😀'.repeat(4_096))).text).toHaveLength(8_192)
    expect(await refusal(send('x'.repeat(4_097)))).toBe('400 Bad Request: message is too long')
    expect((await html(`<b>${'x'.repeat(4_096)}</b>`)).text).toHaveLength(4_096)
  })

  it('show addresses, commands and names as what they are', async () => {
    const { text = '', entities } = await send(
      'See https://a.example/x?y=1. Or /help, @someone; not a/b or 1/2',
    )
    const found = entities?.map(({ type, offset, length }) => [type, text.slice(offset, offset + length)])
    expect(found).toEqual([
      ['url', 'https://a.example/x?y=1'],
      ['bot_command', '/help'],
      ['mention', '@someone'],
    ])
  })

  it('can be replies to messages that there are', async () => {
    const { message_id } = await send('question')
    const reply = await send('answer', { reply_parameters: { message_id } })
    expect(reply.reply_to_message?.text).toBe('question')
    expect(await refusal(send('answer', { reply_parameters: { message_id: 0 } }))).toBe(
      '400 Bad Request: message to be replied not found',
    )
  })

  describe('with buttons', () => {
    it('send the bot what was pressed, and show its answer', async () => {
      const { message_id } = await send('Buy?', buttons({ text: 'Yes', callback_data: 'buy:1' }))
      const seen = await alice.until((messages) => messages.find(({ text }) => text === 'Buy?'))
      expect(seen.reply_markup?.inline_keyboard).toEqual([[{ text: 'Yes', callback_data: 'buy:1' }]])
      const { answered } = alice.press(message_id, 'Yes')
      const [update] = await api.getUpdates({ offset: -1 })
      expect(update?.callback_query).toMatchObject({
        data: 'buy:1',
        from: { id: alice.id },
        message: { text: 'Buy?' },
      })
      const id = String(update?.callback_query?.id)
      await api.answerCallbackQuery(id, { text: 'Queued', show_alert: true })
      expect(await answered).toEqual({ text: 'Queued', isAlert: true })
      const late = '400 Bad Request: query is too old and response timeout expired or query ID is invalid'
      expect(await refusal(api.answerCallbackQuery(id))).toBe(late)
      expect(await refusal(api.answerCallbackQuery('1'))).toBe(late)
      expect(() => alice.press(message_id, 'No')).toThrow(
        'has no button "No" that can be pressed; buttons: "Yes"',
      )
    })

    it.each([
      [{ text: 'x', callback_data: '' }, 'BUTTON_DATA_INVALID'],
      [{ text: 'x', callback_data: 'ü'.repeat(33) }, 'BUTTON_DATA_INVALID'],
      [{ text: '', callback_data: 'x' }, 'inline keyboard button text must be non-empty'],
      [
        { text: 'x' },
        "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
      ],
      [
        { text: 'x', url: 'http://localhost:1/' },
        "inline keyboard button URL 'http://localhost:1/' is invalid: Wrong HTTP URL",
      ],
      [
        { text: 'x', url: 'javascript:alert(1)' },
        "inline keyboard button URL 'javascript:alert(1)' is invalid: Wrong HTTP URL",
      ],
    ])('are refused with the button %o', async (button, why) => {
      expect(await refusal(send('x', buttons(button)))).toBe(`400 Bad Request: ${why}`)
    })

    it('may lead to an address, and carry 64 bytes', async () => {
      const row = [
        { text: 'x', callback_data: 'ü'.repeat(32) },
        { text: 'y', url: 'https://shop.example/' },
      ]
      expect((await send('x', buttons(...row))).reply_markup?.inline_keyboard).toEqual([row])
    })
  })

  describe('when they are edited', () => {
    it('show the new text and the new buttons', async () => {
      const { message_id } = await send('old', buttons({ text: 'x', callback_data: 'x' }))
      await api.editMessageText(alice.id, message_id, '<b>new</b>', { parse_mode: 'HTML' })
      expect(alice.messages().at(-1)).toMatchObject({ text: 'new', edit_date: expect.any(Number) })
      expect(alice.messages().at(-1)).not.toHaveProperty('reply_markup')
      await api.editMessageReplyMarkup(alice.id, message_id, buttons({ text: 'y', callback_data: 'y' }))
      expect(alice.messages().at(-1)?.reply_markup?.inline_keyboard[0]?.[0]?.text).toBe('y')
    })

    it('must change, exist, and be the bot’s own', async () => {
      const { message_id } = await send('same', buttons({ text: 'x', callback_data: 'x' }))
      const edit = (id: number, text: string, options = {}) =>
        refusal(api.editMessageText(alice.id, id, text, options))
      const same =
        '400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message'
      expect(await edit(message_id, 'same', buttons({ text: 'x', callback_data: 'x' }))).toBe(same)
      expect(await edit(message_id, 'other')).toBe('none')
      expect(await edit(message_id, 'other')).toBe(same)
      expect(await refusal(api.editMessageReplyMarkup(alice.id, message_id))).toBe(same)
      expect(await edit(0, 'x')).toBe('400 Bad Request: message to edit not found')
      const own = alice.messages().find(({ from }) => !from.is_bot)?.message_id ?? 0
      expect(await edit(own, 'x')).toBe("400 Bad Request: message can't be edited")
    })

    it('are gone when they were deleted', async () => {
      const { message_id } = await send('gone soon')
      await api.deleteMessage(alice.id, message_id)
      expect(alice.messages().some((message) => message.message_id === message_id)).toBe(false)
      expect(await refusal(api.deleteMessage(alice.id, message_id))).toBe(
        '400 Bad Request: message to delete not found',
      )
    })
  })

  describe('to whom it may not write', () => {
    it('are refused: nobody, somebody who never wrote, somebody who blocked it', async () => {
      expect(await refusal(api.sendMessage(12_345, 'x'))).toBe('400 Bad Request: chat not found')
      expect(await refusal(api.sendMessage('@alice', 'x'))).toBe('400 Bad Request: chat not found')
      const bob = telegram.user({ firstName: 'Bob' })
      expect(await refusal(api.sendMessage(bob.id, 'x'))).toBe(
        "403 Forbidden: bot can't initiate conversation with a user",
      )
      alice.block()
      expect(await refusal(send('x'))).toBe('403 Forbidden: bot was blocked by the user')
      expect(() => alice.say('x')).toThrow('blocked')
      alice.unblock()
      expect(await refusal(send('x'))).toBe('none')
    })

    it('are refused in a group that it left or was removed from', async () => {
      const group = telegram.group({ title: 'Friends' }, alice)
      group.say(alice, '/help')
      const [update] = await api.getUpdates({ offset: -1 })
      expect(update?.message?.chat).toEqual({ id: group.id, type: 'supergroup', title: 'Friends' })
      await api.sendMessage(group.id, 'hello')
      expect(await group.until((messages) => messages.at(-1)?.text === 'hello')).toBe(true)
      await api.leaveChat(group.id)
      expect(await refusal(api.sendMessage(group.id, 'x'))).toBe(
        '403 Forbidden: bot is not a member of the supergroup chat',
      )
      const small = telegram.group({ title: 'Few', type: 'group' }, alice)
      small.kick(alice)
      expect(await refusal(api.sendMessage(small.id, 'x'))).toBe(
        '403 Forbidden: bot was kicked from the group chat',
      )
      expect(await refusal(api.leaveChat(alice.id))).toMatch(/^400 /)
    })
  })

  it('tell whom it talks to', async () => {
    expect(await api.getChat(alice.id)).toMatchObject({
      type: 'private',
      first_name: 'Alice',
      username: 'alice',
    })
    expect(await refusal(api.getChat(1))).toBe('400 Bad Request: chat not found')
  })

  it('come with a menu of commands', async () => {
    await api.setMyCommands([{ command: 'help', description: 'What I can do' }])
    expect(await api.getMyCommands()).toEqual([{ command: 'help', description: 'What I can do' }])
    expect(telegram.commands()).toEqual([{ command: 'help', description: 'What I can do' }])
    const scope = { type: 'all_private_chats' } as const
    await api.setMyCommands([{ command: 'buy', description: 'Buy' }], { scope })
    expect(telegram.commands()).toEqual([{ command: 'buy', description: 'Buy' }])
    await api.deleteMyCommands({ scope })
    expect(telegram.commands()).toHaveLength(1)
    expect(await refusal(api.setMyCommands([{ command: 'Help!', description: 'x' }]))).toBe(
      '400 Bad Request: BOT_COMMAND_INVALID',
    )
    expect(await refusal(api.setMyCommands([{ command: 'help', description: '' }]))).toBe(
      '400 Bad Request: BOT_COMMAND_DESCRIPTION_INVALID',
    )
  })

  describe('on a bad day', () => {
    it('are answered with the failure that was asked for, as often as that', async () => {
      telegram.fail('sendMessage', tooManyRequests(7), 2)
      const raw = await fetch(`${telegram.url}/bot${telegram.token}/sendMessage?chat_id=${alice.id}&text=x`)
      expect([raw.status, raw.headers.get('retry-after')]).toEqual([429, '7'])
      expect(await raw.json()).toEqual({
        ok: false,
        error_code: 429,
        description: 'Too Many Requests: retry after 7',
        parameters: { retry_after: 7 },
      })
      await expect(send('x')).rejects.toMatchObject({ parameters: { retry_after: 7 } })
      expect(await refusal(send('x'))).toBe('none')
    })

    it('are lost with a broken connection, or only their answer is', async () => {
      const before = alice.messages().length
      telegram.fail('sendMessage', 'reset')
      await expect(send('lost')).rejects.toThrow('Network request')
      expect(alice.messages()).toHaveLength(before)
      telegram.fail('*', 'drop-answer')
      await expect(send('arrived')).rejects.toThrow('Network request')
      expect(alice.messages().at(-1)?.text).toBe('arrived')
      expect(telegram.calls.at(-1)).toMatchObject({
        method: 'sendMessage',
        fault: 'drop-answer',
        answer: { ok: true },
      })
    })

    it('hang until whoever waits gives up, and no longer than it was asked for', async () => {
      const heal = telegram.fail('*', 'hang', Number.POSITIVE_INFINITY)
      const patience = new AbortController()
      const hanging = api.sendMessage(alice.id, 'x', {}, patience.signal as never)
      await expect.poll(() => telegram.calls.at(-1)?.fault).toBe('hang')
      patience.abort()
      await expect(hanging).rejects.toThrow()
      heal()
      expect(await refusal(send('x'))).toBe('none')
    })
  })

  it('are taken as a query, as a form, as multipart and as JSON', async () => {
    const url = `${telegram.url}/bot${encodeURIComponent(telegram.token)}/sendMessage`
    const markup = { inline_keyboard: [[{ text: 'x', callback_data: 'x' }]] }
    const fields = { chat_id: String(alice.id), text: 'hello', reply_markup: JSON.stringify(markup) }
    const multipart = new FormData()
    for (const [name, value] of Object.entries(fields)) multipart.set(name, value)
    const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const answers = await Promise.all([
      fetch(`${url}?${new URLSearchParams(fields)}`),
      fetch(url, { method: 'POST', body: new URLSearchParams(fields) }),
      fetch(url, { method: 'POST', body: multipart }),
      fetch(url, { ...json, body: JSON.stringify({ ...fields, reply_markup: markup }) }),
    ])
    for (const answer of answers)
      expect(await answer.json()).toMatchObject({ ok: true, result: { text: 'hello', reply_markup: markup } })
    const broken = ['{', '[]', '{"chat_id":', '{"chat_id":1e99,"text":"x"}', '{"text":"x"}']
    for (const body of broken) expect((await fetch(url, { ...json, body })).status, body).toBe(400)
    expect((await fetch(url, { ...json, body: ' '.repeat(1_000_001) })).status).toBe(413)
  })
})
