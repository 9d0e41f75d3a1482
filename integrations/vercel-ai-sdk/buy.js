// An agent on the Vercel AI SDK that buys through Referrer.
import { createMCPClient } from '@ai-sdk/mcp'
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'
import { openai } from '@ai-sdk/openai'
import { generateText, isStepCount } from 'ai'
import { instructions, market, model, patienceMs, signer, task } from '../task.js'

const clients = await Promise.all([
  createMCPClient({ transport: { type: 'http', url: market.url } }),
  createMCPClient({ transport: new StdioMCPTransport(signer) }),
])
try {
  const [found, paid] = await Promise.all(clients.map((client) => client.tools()))
  const { text } = await generateText({
    model: openai.chat(model),
    system: instructions,
    prompt: task,
    tools: { ...found, ...paid },
    stopWhen: isStepCount(10),
    timeout: { toolMs: patienceMs },
  })
  console.log(text)
} finally {
  await Promise.all(clients.map((client) => client.close()))
}
