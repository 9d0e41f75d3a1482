// A model behind an endpoint like that of OpenAI: it answers what it is told to, well or badly.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { DIMS } from './vectors.ts'

export const MODEL = 'bench'
export const EMBEDDER_ID = `endpoint/${MODEL}@${DIMS}`

export type Mood = 'well' | 'error' | 'silence' | 'garbage' | 'too few'

export interface Embedder {
  url: string
  /** Calls so far, by how they were answered. */
  answered: Map<Mood, number>
  close(): void
}

export async function startEmbedder(
  vectorOf: (text: string) => ArrayLike<number>,
  moodOf: () => Mood = () => 'well',
): Promise<Embedder> {
  const answered = new Map<Mood, number>()
  const server = createServer((request, response) => {
    const mood = moodOf()
    answered.set(mood, (answered.get(mood) ?? 0) + 1)
    answer(mood, vectorOf, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    answered,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function answer(
  mood: Mood,
  vectorOf: (text: string) => ArrayLike<number>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { input }: { input: string | string[] } = JSON.parse(await text(request))
  if (mood === 'silence') return
  if (mood === 'error') response.writeHead(500).end('{"error":{"message":"out of order"}}')
  else if (mood === 'garbage') response.writeHead(200).end('{"data":[{"index":0,"embedding":[1,')
  else {
    const texts = [input].flat().slice(mood === 'too few' ? 1 : 0)
    const data = texts.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: Array.from(vectorOf(text)),
    }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ object: 'list', model: MODEL, data }))
  }
}
