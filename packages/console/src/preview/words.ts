// Text of strangers as a picture can show it, and in lines that fit.
import { plain } from '../format/text.ts'

/** What our fonts have no shapes for would be boxes: other scripts, emoji, symbols for private use. */
const WITHOUT_SHAPE =
  /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Common}\p{Script=Inherited}]|\p{Extended_Pictographic}|\p{Emoji_Component}(?<![\d#*])|[\p{Co}\p{Cn}\p{Cs}]/gu
/** More than two marks on one letter reach into the lines above and below. */
const PILED_MARKS = /(\p{M}{2})\p{M}+/gu

/** One line of text: no unseen marks, nothing that has no shape, at most `most` characters. */
export function shownText(text: string, most: number): string {
  const seen = plain(text, 4 * most)
    .replaceAll(WITHOUT_SHAPE, '')
    .replaceAll(PILED_MARKS, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const characters = [...seen]
  return characters.length > most
    ? `${characters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
    : seen
}

const NARROW = /[ijlIft.,:;'|!()[\]\s-]/
const WIDE = /[mwMW@%—…]/

/** About how wide a text is, in its font size. A little more than it is rather than less. */
export const widthOf = (text: string): number =>
  [...text].reduce((sum, character) => {
    if (NARROW.test(character)) return sum + 0.42
    if (WIDE.test(character)) return sum + 1.08
    return sum + (character === character.toLowerCase() ? 0.69 : 0.82)
  }, 0)

/** Breaks a text into lines of at most `width` font sizes; the last of `most` lines ends in dots if there is more. */
export function linesOf(text: string, width: number, most: number): string[] {
  const lines: string[] = []
  let line = ''
  const words = text.split(' ').flatMap((word) => piecesOf(word, width))
  for (const word of words) {
    const longer = line === '' ? word : `${line} ${word}`
    if (widthOf(longer) <= width) {
      line = longer
    } else if (lines.length === most - 1) {
      return [...lines, withDots(line, width)]
    } else {
      lines.push(line)
      line = word
    }
  }
  return line === '' ? lines : [...lines, line]
}

/** A word that is longer than a line, in pieces. */
function piecesOf(word: string, width: number): string[] {
  const pieces: string[] = []
  let piece = ''
  for (const character of word) {
    if (piece !== '' && widthOf(piece + character) > width) {
      pieces.push(piece)
      piece = ''
    }
    piece += character
  }
  return [...pieces, piece]
}

function withDots(line: string, width: number): string {
  const characters = [...line]
  while (characters.length > 0 && widthOf(`${characters.join('')}…`) > width) characters.pop()
  return `${characters.join('').trimEnd()}…`
}
