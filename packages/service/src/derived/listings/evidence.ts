// Extracts from the reviews of a product the words by which it can be found.
import { descriptionIn } from '../../market/reviews/content.ts'
import { addSayer, mostSaid, type Sayers, wordsIn } from './words.ts'

/** A review whose words count. */
export interface Voice {
  /** The owner of the author: a word that one owner repeats counts once. */
  owner: string
  content: string
}

const MOST_WORDS = 60

/**
 * The words that most owners use, in alphabetical order. A word is repeated once for each owner who uses it, at most
 * three times.
 */
export function evidenceOf(voices: readonly Voice[]): string {
  const owners: Sayers = new Map()
  for (const { owner, content } of voices)
    for (const word of wordsIn(descriptionIn(content))) addSayer(owners, word, owner)
  return mostSaid(owners, MOST_WORDS)
}
