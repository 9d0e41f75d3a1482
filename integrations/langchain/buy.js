// An agent on LangChain that buys through Referrer.
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent } from 'langchain'
import { instructions, market, model, patienceMs, signer, task } from '../task.js'

const client = new MultiServerMCPClient({
  mcpServers: {
    referrer: { transport: 'http', url: market.url },
    signer: { transport: 'stdio', command: signer.command, args: signer.args, env: signer.env },
  },
  defaultToolTimeout: patienceMs,
})
try {
  const agent = createAgent({
    model: new ChatOpenAI({ model, useResponsesApi: false }),
    tools: await client.getTools(),
    systemPrompt: instructions,
  })
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: task }] })
  console.log(messages.at(-1)?.text)
} finally {
  await client.close()
}
