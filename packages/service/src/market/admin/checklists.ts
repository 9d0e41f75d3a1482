import { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { accountShown, list, momentShown, page, wholeNumber, words } from '../../kit/fields.ts'
import { address, time } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { offsetOf } from '../../machinery/db/page.ts'
import { type ChecklistRow, listChecklists } from '../checklists/store.ts'
import { listed } from './fields.ts'
import { authorChecklist, dropChecklist } from './operations.ts'

/** Length limit of a category, the same as that of a product's category. */
const CATEGORY_CHARACTERS = 64

const Checklist = z
  .object({
    category: z.string(),
    items: z.array(z.string()),
    authored_at: momentShown,
    authored_by: accountShown,
  })
  .meta({ id: 'Checklist' })

const params = z.object({ category: words(CATEGORY_CHARACTERS).meta({ about: 'A category of products.' }) })

export const adminChecklistRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/admin/checklists',
    tag: 'Admin',
    summary: 'What buyers of each category are told to look at',
    auth: 'admin',
    query: z.object({ page, limit: listed(100, 100) }),
    response: z
      .object({ checklists: z.array(Checklist), page: wholeNumber, limit: wholeNumber })
      .meta({ id: 'Checklists' }),
    async handle({ context, query: { page, limit } }) {
      const rows = await listChecklists(context.sql, { limit, offset: offsetOf({ page, limit }) })
      return { checklists: rows.map((row) => shown(context, row)), page, limit }
    },
  }),
  route({
    method: 'PUT',
    path: '/admin/checklists/{category}',
    tag: 'Admin',
    summary: 'Write the checklist of a category',
    about: 'Replaces the one that there was.',
    auth: 'admin',
    params,
    body: {
      schema: z.object({ items: list(words(200), { least: 1, most: 20 }) }),
      refusal: 'invalid request',
    },
    response: Checklist,
    async handle(call) {
      const { category } = call.params
      const { items } = call.body
      const at = await authorChecklist(call, category, items)
      return { category, items, authored_at: time(at), authored_by: call.caller }
    },
  }),
  route({
    method: 'DELETE',
    path: '/admin/checklists/{category}',
    tag: 'Admin',
    summary: 'Remove the checklist of a category, if there is one',
    auth: 'admin',
    params,
    status: 204,
    handle: (call) => dropChecklist(call, call.params.category),
  }),
]

const shown = ({ recovery }: Context, { category, items, authored_at, authored_by }: ChecklistRow) => ({
  category,
  items,
  authored_at: time(authored_at),
  authored_by: address(recovery, authored_by),
})
