// The models whose vectors are compared. They answer in this process, with what the service uses of them.
import type { Sql } from '@referrer/database'
import { commonWords, learnWords, type Vector, type WordVectors } from '@referrer/search'
import { LESSON_LIMITS, readLessons } from '@referrer/service/testing'
import { embedTexts, type LocalEmbedder } from './local.ts'

export interface Model {
  name: string
  /** What the ids of its versions begin with. */
  kind: 'local' | 'common' | 'learned'
  /** In the order of the products. */
  products: Vector[]
  vectorsOf(questions: readonly string[]): Promise<Vector[]>
  understands(question: string): boolean
}

/** As the service asks: a question that the model does not understand has a vector of zeros. */
export async function askedVectors(model: Model, questions: readonly string[]): Promise<Vector[]> {
  const vectors = await model.vectorsOf(questions)
  return vectors.map((vector, at) =>
    model.understands(questions[at] ?? '') ? vector : new Int8Array(vector.length),
  )
}

/** `texts` are those of products that are embedded. Without `local`, the local model is left out. */
export async function openModels(
  sql: Sql,
  texts: readonly string[],
  local: LocalEmbedder | undefined,
): Promise<Model[]> {
  const lessons = await readLessons(sql, LESSON_LIMITS)
  const localModel: Model[] = local
    ? [
        {
          name: 'local model',
          kind: 'local',
          products: await embedTexts(texts),
          vectorsOf: (questions) => local.embed([...questions], 'texts'),
          understands: (question) => commonWords().understands(question),
        },
      ]
    : []
  return [
    ...localModel,
    modelOf('common words', 'common', commonWords(), texts),
    modelOf('learned words', 'learned', learnWords(lessons, undefined), texts),
    modelOf('learned and common words', 'learned', learnWords(lessons, commonWords()), texts),
  ]
}

const modelOf = (name: string, kind: Model['kind'], words: WordVectors, texts: readonly string[]): Model => ({
  name,
  kind,
  products: texts.map((text) => words.embed(text)),
  vectorsOf: async (questions) => questions.map((question) => words.embed(question)),
  understands: (question) => words.understands(question),
})
