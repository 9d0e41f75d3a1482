// What Node alone can do: a server that has every answer ready, sends it and knows nothing else.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Recording } from './recording.ts'

const [file = ''] = process.argv.slice(2)
const recording: Recording = JSON.parse(readFileSync(file, 'utf8'))
const answers = new Map(
  Object.entries(recording).map(([asked, { status, headers, body }]) => [
    asked,
    { status, headers, body: Buffer.from(body) },
  ]),
)

const server = createServer((request, response) => {
  const answer = answers.get(`${request.method} ${request.url}`)
  if (!answer) {
    response.writeHead(404).end()
    return
  }
  const send = () => response.writeHead(answer.status, answer.headers).end(answer.body)
  if (request.method === 'GET') send()
  else request.on('data', () => {}).on('end', send)
})
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
