import { z } from 'zod'
import { momentShown, page, wholeNumber } from '../../kit/fields.ts'
import { time, whole } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { offsetOf } from '../../machinery/db/page.ts'
import { listDeadLetters } from '../dead-letters/store.ts'
import { listed } from './fields.ts'

const DeadLetter = z
  .object({
    letter_id: wholeNumber,
    channel: z.string().meta({ about: 'The messenger: telegram or webhook.' }),
    chat: z.string(),
    key: z.string().meta({ about: 'The idempotency key that the message was sent with.' }),
    text: z.string(),
    reason: z.string().meta({ about: 'What the messenger said, or why it could not be reached.' }),
    buried_at: momentShown,
  })
  .meta({ id: 'DeadLetter' })

export const adminDeadLetterRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/admin/dead-letters',
    tag: 'Admin',
    summary: 'Messages to chats that were given up, newest first',
    about:
      'The messenger refused them for good, or could not be reached for a day. They are kept for 30 days. A chat whose user has blocked the bot is not listed.',
    auth: 'admin',
    query: z.object({ page, limit: listed(20, 100) }),
    response: z
      .object({ dead_letters: z.array(DeadLetter), page: wholeNumber, limit: wholeNumber })
      .meta({ id: 'DeadLetters' }),
    async handle({ context, query: { page, limit } }) {
      const rows = await listDeadLetters(context.sql, { limit, offset: offsetOf({ page, limit }) })
      const letters = rows.map(({ letter_id, buried_at, ...rest }) => ({
        letter_id: whole(letter_id),
        ...rest,
        buried_at: time(buried_at),
      }))
      return { dead_letters: letters, page, limit }
    },
  }),
]
