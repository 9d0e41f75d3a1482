// An agent on the OpenAI Agents SDK that buys through Referrer.
import {
  Agent,
  MCPServerStdio,
  MCPServerStreamableHttp,
  run,
  setOpenAIAPI,
  setTracingDisabled,
} from '@openai/agents'
import { instructions, market, model, patienceMs, signer, task } from '../task.js'

// Models of other houses speak this one, too.
setOpenAIAPI('chat_completions')
setTracingDisabled(true)
// It waits five seconds unless it is told.
const patience = { clientSessionTimeoutSeconds: patienceMs / 1_000, timeout: patienceMs }
const servers = [
  new MCPServerStreamableHttp({ name: 'referrer', url: market.url, ...patience }),
  new MCPServerStdio({
    name: 'signer',
    command: signer.command,
    args: signer.args,
    env: signer.env,
    ...patience,
  }),
]
try {
  await Promise.all(servers.map((server) => server.connect()))
  const agent = new Agent({ name: 'Buyer', instructions, model, mcpServers: servers })
  const { finalOutput } = await run(agent, task)
  console.log(finalOutput)
} finally {
  await Promise.all(servers.map((server) => server.close()))
}
