// A summary by extraction: the sentences whose words the text uses most, in the order in which they stand.
import { RequestError } from '../request-error.ts'

export interface Summary {
  summary: string
  sentences: number
  /** Of the text's words, those that are left. */
  words: number
  words_of_text: number
}

export interface SummaryRequest {
  text: string
  sentences: number
}

const MOST_CHARS = 20_000
const MOST_SENTENCES = 10
const DEFAULT_SENTENCES = 2
/** Words that every English text uses say nothing about this one. */
const COMMON = new Set(
  'a about after all also an and any are as at be because been but by can could did do does for from had has have he her his how if in into is it its may more most no not of on one only or other our out she so some such than that the their them then there these they this to up was we were what when which who will with would you your'.split(
    ' ',
  ),
)

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })
const words = new Intl.Segmenter('en', { granularity: 'word' })

export function summarise({ text, sentences: most }: SummaryRequest): Summary {
  const all = [...sentences.segment(text.replace(/\s+/g, ' '))]
    .map(({ segment }) => segment.trim())
    .filter((sentence) => wordsOf(sentence).length > 0)
  const counts = new Map<string, number>()
  for (const word of all.flatMap(wordsOf)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const scored = all.map((sentence, place) => ({ sentence, place, score: scoreOf(sentence, counts) }))
  const chosen = scored
    .toSorted((a, b) => b.score - a.score || a.place - b.place)
    .slice(0, most)
    .toSorted((a, b) => a.place - b.place)
  const summary = chosen.map(({ sentence }) => sentence).join(' ')
  return {
    summary,
    sentences: chosen.length,
    words: wordsOf(summary).length,
    words_of_text: wordsOf(text).length,
  }
}

/** How much its words mean to the text, on average: else the longest sentence would always win. */
function scoreOf(sentence: string, counts: ReadonlyMap<string, number>): number {
  const telling = wordsOf(sentence).filter((word) => !COMMON.has(word))
  return telling.reduce((sum, word) => sum + (counts.get(word) ?? 0), 0) / Math.max(telling.length, 3)
}

const wordsOf = (text: string): string[] =>
  [...words.segment(text)].flatMap(({ segment, isWordLike }) => (isWordLike ? segment.toLowerCase() : []))

/** From the query, or from a JSON body when there is one. */
export async function readSummaryRequest(request: Request): Promise<SummaryRequest> {
  const query = new URL(request.url).searchParams
  const body = request.method === 'POST' ? await bodyOf(request) : {}
  const text = body.text ?? query.get('text')
  if (typeof text !== 'string' || text.trim() === '' || text.length > MOST_CHARS)
    throw new RequestError(`text must have 1 to ${MOST_CHARS} characters: POST {"text": "…"}`)
  const wanted = Number(body.sentences ?? query.get('sentences') ?? DEFAULT_SENTENCES)
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > MOST_SENTENCES)
    throw new RequestError(`sentences must be a whole number from 1 to ${MOST_SENTENCES}`)
  return { text, sentences: wanted }
}

async function bodyOf(request: Request): Promise<Record<string, unknown>> {
  const text = await textOf(request)
  if (text === '') return {}
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null && !Array.isArray(body))
      return body as Record<string, unknown>
  } catch {
    // Told below, with everything else that is no object.
  }
  throw new RequestError('the body must be a JSON object: {"text": "…"}')
}

/** Nobody has paid yet: no more is read than a text can need. */
async function textOf({ body }: Request): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > 2 * MOST_CHARS) throw new RequestError('the body is too long')
  }
  return text + decoder.decode()
}
