/** The number of an agent, a shop or a ring, from the address bar. */
export const numberIn = (value: unknown): number | undefined => {
  const text = String(value ?? '')
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
