import { McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server'
import type { Context } from './context.ts'
import { strangersText, USDC_UNITS } from './fields.ts'
import { registerPrompts } from './prompts.ts'
import { tools } from './tools/index.ts'

const INSTRUCTIONS = `Holds the keys of agents of the Referrer marketplace and acts with them; keys never leave this program. Without key, identity or money: setup. Whole jobs: buy, review_purchase. Else begin with get_wallet_status. pay_for_product buys through a ref link of the marketplace's discover_products, publish_escrow_review publishes what a buyer thinks, and the sign_* tools sign what two-step tools of the marketplace ask for. Amounts of money are ${USDC_UNITS}. chain_id may be left out. The resource referrer-signer://tools/{name} explains a tool in full, its errors too. ${strangersText('what a shop served, said or offered, and in names and reviews,')}`

const EXPLAINED = 'referrer-signer://tools/{name}'

export function createServer(context: Context): McpServer {
  const server = new McpServer(
    { name: 'referrer-signer', title: 'Referrer signer', version: '0.1.0' },
    { instructions: INSTRUCTIONS },
  )
  for (const tool of tools) tool.register(server, context)
  registerPrompts(server, context)
  // In place of the list that the SDK makes, which has the whole schemas.
  server.server.setRequestHandler('tools/list', () => ({ tools: tools.map(({ listed }) => listed) }))
  server.registerResource(
    'tool',
    new ResourceTemplate(EXPLAINED, { list: undefined }),
    {
      title: 'A tool in full',
      description: 'What its fields mean, their limits, and what its errors mean.',
      mimeType: 'application/json',
    },
    ({ href: uri }, { name }) => {
      const tool = tools.find((each) => each.name === name)
      if (!tool) throw new ResourceNotFoundError(uri)
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(tool.explained) }] }
    },
  )
  return server
}
