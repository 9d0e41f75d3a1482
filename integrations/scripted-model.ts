// Speaks the Chat Completions API of OpenAI and plays a buyer by a script: searches, pays through the first link that it is shown, reports.
// So the examples run as their users write them, with the real packages and without a model.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

interface Message {
  role: string
  content: unknown
}

interface Asked {
  messages: Message[]
  tools?: { function: { name: string } }[]
  stream?: boolean
}

export interface ScriptedModel {
  /** For OPENAI_BASE_URL. */
  url: string
  /** What was asked of it, in this order. */
  asked: Asked[]
  close(): Promise<void>
}

export const INTENT = 'when does the sun set in Tokyo'
const LINK = /https?:\/\/[^\s"\\]+\/r\/[\w-]+/

type Said = { content: string } | { name: string; args: object }

function answerTo({ messages, tools = [] }: Asked): Said {
  // Some frameworks put the server's name before that of the tool.
  const named = (name: string) =>
    tools.find((tool) => tool.function.name.endsWith(name))?.function.name ?? name
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content))
  const [found, paid] = results
  if (found === undefined) {
    const args = { intent: INTENT, max_products: 1 }
    return { name: named('discover_products'), args }
  }
  if (paid !== undefined) return { content: `The shop said: ${paid}` }
  const [ref_link] = LINK.exec(found) ?? []
  if (ref_link === undefined) return { content: `Found no link in ${found}` }
  const args = { ref_link, max_amount: '50000', request: { query: 'city=Tokyo' } }
  return { name: named('pay_for_product'), args }
}

export async function startScriptedModel(): Promise<ScriptedModel> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    if (request.url !== '/v1/chat/completions') return void response.writeHead(404).end()
    const question = (await json(request)) as Asked
    asked.push(question)
    const said = answerTo(question)
    const message =
      'content' in said
        ? { role: 'assistant', content: said.content }
        : { role: 'assistant', content: null, tool_calls: [callOf(asked.length, said)] }
    const finish_reason = 'content' in said ? 'stop' : 'tool_calls'
    const head = headOf(asked.length)
    if (question.stream) stream(response, head, message, finish_reason)
    else reply(response, head, message, finish_reason)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const callOf = (count: number, { name, args }: { name: string; args: object }) => ({
  id: `call_${count}`,
  index: 0,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
})

/** Frameworks take two answers with one id for the same answer. */
const headOf = (count: number) => ({ id: `chatcmpl-${count}`, created: 1_750_000_000, model: 'scripted' })
type Head = ReturnType<typeof headOf>
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

function reply(response: ServerResponse, head: Head, message: object, finish_reason: string): void {
  const choices = [{ index: 0, message, finish_reason }]
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }))
}

function stream(response: ServerResponse, head: Head, delta: object, finish_reason: string): void {
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], usage })}\n\n`
  response
    .writeHead(200, { 'content-type': 'text/event-stream' })
    .end(`${chunk({ delta, finish_reason: null })}${chunk({ delta: {}, finish_reason })}data: [DONE]\n\n`)
}

// By hand: `OPENAI_BASE_URL` of an example that is tried without a model.
if (import.meta.main) console.log((await startScriptedModel()).url)
