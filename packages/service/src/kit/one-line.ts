// Words of strangers, such as the name of a product or a line of a review, inside our own messages.

/** One line of at most `most` characters, without control and formatting characters, so that it cannot pass for lines of ours. */
export function oneLine(text: string, most: number): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim()
  const characters = [...line]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : line
}
