import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { within } from './fetch-within.ts'

it('is over when a server falls silent in the middle of its answer', async () => {
  const server = createServer((_request, response) => void response.writeHead(200).write('{'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const answer = await within(3_000)(`http://127.0.0.1:${port}/`)
  await expect(answer.text()).rejects.toThrow(/time-?out|aborted/i)
  server.closeAllConnections()
  server.close()
})
