import { z } from 'zod'
import { clamp, integer, words } from '../../kit/fields.ts'

/** The page size of a list for admins. */
export const listed = (usual: number, most: number) =>
  integer(usual, `How many a page: 1 to ${most}.`, clamp(1, most))

/** The reason for an admin's decision, shown to admins only. */
export const noteBody = {
  schema: z.object({ note: words(2_000).meta({ about: 'Why. For the eyes of admins only.' }) }),
  refusal: 'note required',
}

/** Serializes an object and adds a key whose value is serialized JSON already. */
export const withJson = (object: object, key: string, json: string) =>
  `${JSON.stringify(object).slice(0, -1)},${JSON.stringify(key)}:${json}}`
