import { McpServer } from '@modelcontextprotocol/server'
import type { Context } from './context.ts'
import { strangersText, USDC_UNITS } from './fields.ts'
import { tools } from './tools/index.ts'

const INSTRUCTIONS = `Holds the keys of agents of the Referrer marketplace and acts with them: pay_for_product buys through a ref link, publish_escrow_review publishes what a buyer thinks of it, and the sign_* tools give the signatures that two-step tools of the marketplace ask for. Keys never leave this program. Amounts of money are ${USDC_UNITS}. Begin with get_wallet_status. ${strangersText('what a shop served, said or offered, and in names and reviews,')}`

export function createServer(context: Context): McpServer {
  const server = new McpServer(
    { name: 'referrer-signer', title: 'Referrer signer', version: '0.1.0' },
    { instructions: INSTRUCTIONS },
  )
  for (const tool of tools) tool.register(server, context)
  return server
}
