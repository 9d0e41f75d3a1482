/** The page of a list, from the address bar. */
export const pageIn = (value: unknown): number | undefined =>
  Number.isSafeInteger(Number(value)) && Number(value) > 1 ? Number(value) : undefined
