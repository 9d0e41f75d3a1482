// An agent on Mastra that buys through Referrer.
import { openai } from '@ai-sdk/openai'
import { Agent } from '@mastra/core/agent'
import { MCPClient } from '@mastra/mcp'
import { instructions, market, model, patienceMs, signer, task } from '../task.js'

const client = new MCPClient({
  servers: {
    referrer: { url: new URL(market.url) },
    signer: { command: signer.command, args: signer.args, env: signer.env },
  },
  timeout: patienceMs,
})
try {
  const agent = new Agent({
    id: 'buyer',
    name: 'Buyer',
    instructions,
    model: openai.chat(model),
    tools: await client.listTools(),
  })
  const { text } = await agent.generate(task, { maxSteps: 10 })
  console.log(text)
} finally {
  await client.disconnect()
}
