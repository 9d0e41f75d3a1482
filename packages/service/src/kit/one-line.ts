// Words of strangers, such as the name of a product or a line of a review, inside our own messages.

/** Follows the signs that begin addresses, commands and names: it shows as nothing, and no messenger makes a link of what is behind it. */
const WORD_JOINER = '\u2060'

/**
 * One line of at most `most` characters, without control and formatting characters, so that it cannot pass for lines of ours, and without
 * anything that can be pressed.
 */
export function oneLine(text: string, most: number): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim()
  const characters = [...line]
  const cut = characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : line
  return cut.replaceAll(/[./@#$:](?=\S)/g, `$&${WORD_JOINER}`)
}
