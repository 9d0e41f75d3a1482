// Quill: words.

import { computed } from '../good.ts'
import { escapeHtml } from '../html.ts'
import { RequestError } from '../request-error.ts'

const words = new Intl.Segmenter('en', { granularity: 'word' })
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })
export const wordsOf = (text: string): string[] =>
  [...words.segment(text)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment)
export const sentencesOf = (text: string): string[] =>
  [...sentences.segment(text)].map(({ segment }) => segment.trim()).filter((sentence) => sentence !== '')

const syllablesIn = (word: string) =>
  Math.max(
    word
      .toLowerCase()
      .replace(/e$/, '')
      .match(/[aeiouy]+/g)?.length ?? 0,
    1,
  )

/** Words that a text of the language hardly does without. */
const COMMON: Readonly<Record<string, readonly string[]>> = {
  English: ['the', 'and', 'of', 'to', 'is', 'in', 'that', 'it', 'was', 'for'],
  German: ['der', 'die', 'und', 'das', 'ist', 'nicht', 'ein', 'zu', 'mit', 'den'],
  French: ['le', 'la', 'et', 'les', 'des', 'est', 'que', 'un', 'une', 'dans'],
  Spanish: ['el', 'los', 'y', 'que', 'en', 'es', 'por', 'una', 'con', 'del'],
  Portuguese: ['o', 'os', 'e', 'que', 'não', 'uma', 'com', 'do', 'da', 'em'],
  Italian: ['il', 'di', 'che', 'è', 'e', 'per', 'non', 'una', 'sono', 'gli'],
}
const FILLER =
  'The ferry leaves at six. Nobody had told the baker. Rain came over the hills and stayed. She counted the boxes again. There were eleven, as before. The clerk wrote the number down. A dog slept by the stove. Later the lights went out in the whole street. He found the letter under the clock. It had been there since spring.'

export const TEXT = [
  computed(
    {
      path: '/quill/count',
      name: 'Word count',
      description: 'Counts the words, sentences, characters and minutes of reading of a text in any script.',
      category: 'text',
      price: '0.01',
      commissionBps: 1_000,
      example: '?text=Bees+make+honey.+Honey+keeps.',
    },
    (ask) => {
      const text = ask.text('text')
      const count = wordsOf(text).length
      const minutes = Math.ceil(count / 230)
      return { words: count, sentences: sentencesOf(text).length, characters: [...text].length, minutes }
    },
  ),
  computed(
    {
      path: '/quill/readability',
      name: 'Readability',
      description: 'How hard an English text is to read, by the formulas of Flesch and Kincaid.',
      category: 'text',
      price: '0.03',
      commissionBps: 2_000,
      example: '?text=The+cat+sat+on+the+mat.+It+was+warm.',
    },
    (ask) => {
      const text = ask.text('text')
      const all = wordsOf(text)
      if (all.length === 0) throw new RequestError('text must have words')
      const perSentence = all.length / Math.max(sentencesOf(text).length, 1)
      const perWord = all.reduce((sum, word) => sum + syllablesIn(word), 0) / all.length
      const round = (value: number) => Number(value.toFixed(1))
      return {
        reading_ease: round(206.835 - 1.015 * perSentence - 84.6 * perWord),
        school_grade: round(0.39 * perSentence + 11.8 * perWord - 15.59),
      }
    },
  ),
  computed(
    {
      path: '/quill/language',
      name: 'Language guess',
      description: 'Guesses which of six European languages a text is in, by its most common words.',
      category: 'text',
      price: '0.02',
      commissionBps: 1_500,
      example: '?text=O+barco+n%C3%A3o+parte+com+o+vento',
    },
    (ask) => {
      const all = wordsOf(ask.text('text').toLowerCase())
      const scores = Object.entries(COMMON).map(([language, common]) => ({
        language,
        hits: all.filter((word) => common.includes(word)).length,
      }))
      const [best, next] = scores.toSorted((a, b) => b.hits - a.hits)
      const isSure = best && best.hits > (next?.hits ?? 0)
      return { language: isSure ? best.language : 'unknown', hits: best?.hits ?? 0, words: all.length }
    },
  ),
  computed(
    {
      path: '/quill/slug',
      name: 'Slugs',
      description: 'Turns a title into the last part of a URL: small letters, digits and hyphens.',
      category: 'text',
      price: '0.01',
      commissionBps: 1_000,
      example: '?text=Crème+brûlée+in+30+minutes!',
    },
    (ask) => {
      const plain = ask.text('text').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
      const slug = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
      if (slug === '') throw new RequestError('text must have letters of the Latin script, or digits')
      return { slug }
    },
  ),
  computed(
    {
      path: '/quill/markdown',
      name: 'Markdown to HTML',
      description:
        'Makes safe HTML of headings, lists, emphasis, code and links. Markup in the text is escaped.',
      category: 'text',
      price: '0.04',
      commissionBps: 2_000,
      example: '?text=%23+Title%0A%0ASome+**bold**+text.',
    },
    (ask) => ({
      html: ask
        .text('text')
        .split(/\n{2,}/)
        .map(blockOf)
        .join('\n'),
    }),
  ),
  computed(
    {
      path: '/quill/filler',
      name: 'Filler text',
      description:
        'Plain English sentences to fill a layout with, as many as you need, always in the same order.',
      category: 'text',
      price: '0.01',
      commissionBps: 1_000,
      example: '?sentences=4',
    },
    (ask) => {
      const count = ask.whole('sentences', { from: 1, to: 200, fallback: 5 })
      const all = sentencesOf(FILLER)
      return { text: Array.from({ length: count }, (_, at) => all[at % all.length]).join(' ') }
    },
  ),
]

function blockOf(block: string): string {
  const heading = /^(#{1,6}) +(.+)$/s.exec(block.trim())
  if (heading) return `<h${heading[1]?.length}>${inlineOf(heading[2] ?? '')}</h${heading[1]?.length}>`
  const lines = block.trim().split('\n')
  if (lines.every((line) => /^[-*] /.test(line)))
    return `<ul>${lines.map((line) => `<li>${inlineOf(line.slice(2))}</li>`).join('')}</ul>`
  return `<p>${inlineOf(lines.join(' '))}</p>`
}

/** Escaped first: what follows can only add these four elements, and links to the web alone. */
const inlineOf = (text: string) =>
  escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/\*([^*]+)\*/g, '<em>$1</em>')
    .replace(/\[([^\][]+)\]\((https?:\/\/[^\s()]+)\)/g, '<a href="$2">$1</a>')
