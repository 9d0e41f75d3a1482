// An example of each kind of update that the Bot API documents, and updates that are not as documented.
import type { Update } from 'grammy/types'

export const BOT = { id: 6_100_000_001, is_bot: true, first_name: 'Bot', username: 'stand_in_bot' }
export const ALICE = { id: 7_100_000_001, is_bot: false, first_name: 'Alice', username: 'alice' }
const GROUP = { id: -1_002_100_000_001, type: 'supergroup', title: 'Friends' }
const CHANNEL = { id: -1_002_100_000_002, type: 'channel', title: 'News' }
const PRIVATE = { id: ALICE.id, type: 'private', first_name: 'Alice', username: 'alice' }
const date = 1_790_000_000

export const inPrivate = { message_id: 1, date, chat: PRIVATE, from: ALICE }
const inGroup = { message_id: 2, date, chat: GROUP, from: ALICE }
const inChannel = { message_id: 3, date, chat: CHANNEL, sender_chat: CHANNEL }
const reaction = [{ type: 'emoji', emoji: '👍' }]
const member = (status: string) => ({ user: BOT, status })

/** None of them is meant for the bot. The type names every kind, so that a new one of the Bot API is missed here first. */
export const STRANGE: Record<Exclude<keyof Update, 'update_id'>, object> = {
  message: { ...inGroup, text: '/start' },
  edited_message: { ...inPrivate, text: '/start', edit_date: date },
  channel_post: { ...inChannel, text: '/start' },
  edited_channel_post: { ...inChannel, text: '/start', edit_date: date },
  business_connection: { id: 'b', user: ALICE, user_chat_id: ALICE.id, date, is_enabled: true },
  business_message: { ...inPrivate, business_connection_id: 'b', text: '/start' },
  edited_business_message: { ...inPrivate, business_connection_id: 'b', text: '/start' },
  deleted_business_messages: { business_connection_id: 'b', chat: PRIVATE, message_ids: [1] },
  guest_message: { ...inGroup, text: '@stand_in_bot hello', guest_query_id: 'g' },
  message_reaction: {
    chat: PRIVATE,
    message_id: 1,
    user: ALICE,
    date,
    old_reaction: [],
    new_reaction: reaction,
  },
  message_reaction_count: { chat: CHANNEL, message_id: 1, date, reactions: [] },
  inline_query: { id: 'i', from: ALICE, query: 'coffee', offset: '' },
  chosen_inline_result: { result_id: 'r', from: ALICE, query: 'coffee' },
  callback_query: { id: 'c', from: ALICE, inline_message_id: 'm', chat_instance: '1', data: 'p:1' },
  shipping_query: { id: 's', from: ALICE, invoice_payload: 'x', shipping_address: {} },
  pre_checkout_query: { id: 'p', from: ALICE, currency: 'XTR', total_amount: 1, invoice_payload: 'x' },
  purchased_paid_media: { from: ALICE, paid_media_payload: 'x' },
  poll: { id: 'q', question: '?', options: [], total_voter_count: 0, is_closed: true },
  poll_answer: { poll_id: 'q', user: ALICE, option_ids: [0] },
  my_chat_member: {
    chat: GROUP,
    from: ALICE,
    date,
    old_chat_member: member('member'),
    new_chat_member: member('left'),
  },
  chat_member: {
    chat: GROUP,
    from: ALICE,
    date,
    old_chat_member: { user: ALICE, status: 'left' },
    new_chat_member: { user: ALICE, status: 'member' },
  },
  chat_join_request: { chat: GROUP, from: ALICE, user_chat_id: ALICE.id, date },
  chat_boost: { chat: CHANNEL, boost: { boost_id: 'x' } },
  removed_chat_boost: { chat: CHANNEL, boost_id: 'x', remove_date: date, source: {} },
  stopped_message_generation: { chat: PRIVATE, user: ALICE, date },
  subscription: { user: ALICE, date, invoice_payload: 'x' },
  managed_bot: { user: ALICE, bot: BOT },
}

const press = { id: 'c', from: ALICE, chat_instance: '1', data: 'p:1' }

/** Not as documented, or from somebody who gets no answer. */
export const MALFORMED: [what: string, update: unknown][] = [
  ['nothing', null],
  ['a number', 7],
  ['a list', []],
  ['an empty update', {}],
  ['a message that is a text', { message: 'hello' }],
  ['a message without a chat', { message: { ...inPrivate, chat: undefined, text: '/start' } }],
  ['a message without a sender', { message: { ...inPrivate, from: undefined, text: '/start' } }],
  ['a chat without a number', { message: { ...inPrivate, chat: { ...PRIVATE, id: 'x' }, text: '/start' } }],
  ['a chat with half a number', { message: { ...inPrivate, chat: { ...PRIVATE, id: 1.5 }, text: '/start' } }],
  ['a chat of no kind', { message: { ...inPrivate, chat: { id: ALICE.id }, text: '/start' } }],
  ['a chat of an unknown kind', { message: { ...inPrivate, chat: { ...PRIVATE, type: 'room' }, text: 'x' } }],
  ['a text that is none', { message: { ...inPrivate, text: { toString: 'x' } } }],
  ['another bot', { message: { ...inPrivate, from: { ...ALICE, is_bot: true }, text: '/start' } }],
  [
    'a small group',
    { message: { ...inGroup, chat: { ...GROUP, type: 'group' }, text: '/start@stand_in_bot' } },
  ],
  ['a press in a group', { callback_query: { ...press, message: inGroup } }],
  ['a press of another bot', { callback_query: { ...press, from: BOT, message: inPrivate } }],
  ['a press without data', { callback_query: { ...press, data: undefined, message: inPrivate } }],
  ['a game that is played', { callback_query: { ...press, data: undefined, game_short_name: 'x' } }],
  ['a change of no member', { my_chat_member: { chat: PRIVATE } }],
  ['a pinned message', { message: { ...inPrivate, pinned_message: inPrivate } }],
  ['a deep object', { message: JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) }],
]
