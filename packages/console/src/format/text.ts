/** Marks that change the direction of what follows, and invisible ones: strangers use them to make text look like other text. */
const UNSEEN = /\p{Bidi_Control}|\u200B|\uFEFF|\u00AD|(?![\n\t])\p{Cc}/gu

/** Text of strangers as it is shown: without unseen marks, and not longer than `most` characters. */
export function plain(text: string, most = 4_000): string {
  const seen = text.replaceAll(UNSEEN, '')
  return seen.length > most ? `${seen.slice(0, most).trimEnd()}…` : seen
}

/** `0x1234…abcd` */
export const short = (hex: string): string => (hex.length > 13 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex)

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** A rank from 0 to 1, with three places as the market counts it. */
export const formatRank = (rank: number): string => rank.toFixed(3)
