import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { closeApp } from './close-app.ts'

let server: Server

afterEach(() => server.closeAllConnections())

/** A server with one running request, which is answered when `answer` is called. */
async function busy() {
  const arrived = Promise.withResolvers<void>()
  let answer = () => {}
  server = createServer((_request, response) => {
    answer = () => response.end('done')
    arrived.resolve()
  }).listen(0, '127.0.0.1')
  server.keepAliveTimeout = 600_000
  await once(server, 'listening')
  const response = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const text = response.then((answered) => answered.text()).catch(() => 'cut off')
  await arrived.promise
  const app = {
    server,
    async close() {
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
  return { app, text, answer: () => answer() }
}

it('lets a request under way end, and does not wait for the next one on its connection', async () => {
  const { app, text, answer } = await busy()
  const closing = closeApp(app, 600_000)
  answer()
  await closing
  expect(await text).toBe('done')
})

it('cuts off a request that does not end in time', async () => {
  const { app, text } = await busy()
  await closeApp(app, 10)
  expect(await text).toBe('cut off')
})
