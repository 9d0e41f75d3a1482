// Writes reviews for the runner of a test: reads a document from stdin, or serves the tool write_review with --mcp. ANSWERS is a JSON array of
// what it answers, one after another; what it was asked, with its environment, is added to the file SEEN.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const { SEEN = '', ANSWERS = '[]' } = process.env

export function answer(document: unknown): string {
  const earlier = existsSync(SEEN) ? readFileSync(SEEN, 'utf8').split('\n').length - 1 : 0
  appendFileSync(SEEN, `${JSON.stringify({ document, env: process.env })}\n`)
  const answers: unknown[] = JSON.parse(ANSWERS)
  return JSON.stringify(answers[Math.min(earlier, answers.length - 1)])
}

if (process.argv.includes('--mcp')) {
  serveStdio(() => {
    const server = new McpServer({ name: 'writer', version: '1' })
    server.registerTool('write_review', { inputSchema: z.looseObject({}) }, async (document) => ({
      content: [{ type: 'text', text: answer(document) }],
    }))
    return server
  })
} else {
  let input = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) input += chunk
  process.stdout.write(answer(JSON.parse(input)))
}
