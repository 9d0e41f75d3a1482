import type { Queryable } from '@referrer/database'
import type { Page } from '../../machinery/db/page.ts'

/** A checklist: what a buyer should check in a category of products. */
export type ChecklistRow = {
  category: string
  items: string[]
  authored_at: Date
  authored_by: Buffer
}

/** One page of the checklists, ordered by category. */
export function listChecklists(sql: Queryable, { limit, offset }: Page): Promise<ChecklistRow[]> {
  return sql<ChecklistRow[]>`
    SELECT category, items, authored_at, authored_by FROM market.checklists
    ORDER BY category LIMIT ${limit} OFFSET ${offset}`
}

/** Stores a checklist, or replaces that of the same category. */
export async function saveChecklist(
  sql: Queryable,
  { category, items, authored_at, authored_by }: ChecklistRow,
): Promise<void> {
  await sql`
    INSERT INTO market.checklists (category, items, authored_at, authored_by)
    VALUES (${category}, ${items}::text[], ${authored_at}, ${authored_by})
    ON CONFLICT (category) DO UPDATE SET
      items = excluded.items, authored_at = excluded.authored_at, authored_by = excluded.authored_by`
}

export async function removeChecklist(sql: Queryable, category: string): Promise<void> {
  await sql`DELETE FROM market.checklists WHERE category = ${category}`
}
