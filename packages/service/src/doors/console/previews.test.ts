import { PainterBusy } from '@referrer/console'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { previewRoutes } from './previews.ts'

const app = Fastify()

beforeAll(async () => {
  const stats = { products: 1, reviews: 1, purchases: 1, volume_usdc: 1 }
  previewRoutes(
    app,
    { clock: Date.now, limits: { limiter: () => async () => 0 } } as never,
    () => async () => Response.json(stats),
    {
      paint: () => Promise.reject(new PainterBusy('a picture took longer than 10000 ms')),
      close: async () => {},
    },
  )
  await app.ready()
})
afterAll(() => app.close())

it('a preview picture that took too long may be asked for again later', async () => {
  const answer = await app.inject('/preview/market.png')
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1'])
  expect(answer.json()).toEqual({ error: 'the picture cannot be made now' })
})
