const MOST_ITEMS = 20
const MOST_CHARACTERS = 200

/** The items of a checklist, one in a line; `error` says what is wrong with them. */
export function itemsIn(text: string): { items: string[]; error?: string } {
  const items = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (items.length === 0) return { items, error: 'Write at least one item.' }
  if (items.length > MOST_ITEMS)
    return { items, error: `Leave out ${items.length - MOST_ITEMS}: twenty are the most.` }
  const long = items.findIndex((item) => item.length > MOST_CHARACTERS)
  if (long >= 0) return { items, error: `Item ${long + 1} is longer than ${MOST_CHARACTERS} characters.` }
  return { items }
}
