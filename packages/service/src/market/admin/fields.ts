import { z } from 'zod'
import { clamp, integer, words } from '../../kit/fields.ts'

/** Lists of an admin are worked through from the front. */
export const listed = (usual: number, most: number) =>
  integer(usual, `How many a page: 1 to ${most}.`, clamp(1, most))

/** Why an admin decided so. Nobody but admins ever reads it. */
export const noteBody = {
  schema: z.object({ note: words(2_000).meta({ about: 'Why. For the eyes of admins only.' }) }),
  refusal: 'note required',
}

/** An object with one more key whose value is JSON already. */
export const withJson = (object: object, key: string, json: string) =>
  `${JSON.stringify(object).slice(0, -1)},${JSON.stringify(key)}:${json}}`
