import type { Context } from '../../kit/context.ts'
import { configuredId, learns } from './embedders.ts'
import { configuredEmbedder, servingEmbedder } from './store.ts'
import { type Learned, newestLearned } from './words-store.ts'

export interface EmbedderFigures {
  /** The ids of the models, by what they do; empty: searches use words alone. */
  models: { role: 'configured' | 'serving'; embedder: string }[]
  /** The newest learned word vectors, if they are in use. */
  learned: Learned | undefined
}

export async function embedderFigures({
  sql,
  config,
}: Pick<Context, 'sql' | 'config'>): Promise<EmbedderFigures> {
  const wanted = configuredId(config.embedder)
  const [configured, serving, learned] = await Promise.all([
    configuredEmbedder(sql, wanted),
    servingEmbedder(sql, wanted),
    learns(config.embedder) ? newestLearned(sql) : undefined,
  ])
  const models: EmbedderFigures['models'] = []
  if (configured !== undefined) models.push({ role: 'configured', embedder: configured })
  if (serving !== undefined) models.push({ role: 'serving', embedder: serving })
  return { models, learned }
}
