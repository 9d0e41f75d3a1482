// What addresses carry: anybody can write them, so each value is checked. What is not valid is undefined and has to be named so: the
// router keeps what the search of a page does not name.

/** Text of an address; the router has read `?q=7` as a number. */
export function textOf(value: unknown, most: number): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
  const text = String(value).trim().slice(0, most).toWellFormed()
  return text === '' ? undefined : text
}

const LAST_PAGE = 10_000

/** A page from 2 on: the first one needs no mention. */
export function pageOf(value: unknown): number | undefined {
  const page = Number(value)
  return Number.isInteger(page) && page > 1 && page <= LAST_PAGE ? page : undefined
}

export const oneOf = <T extends string>(value: unknown, choices: readonly T[]): T | undefined =>
  choices.find((choice) => choice === value)
