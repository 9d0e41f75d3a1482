import { exampleCommand, type SandboxState } from './state.ts'
import { hostsPath } from './tool-servers.ts'

/** What runs, who is who, and what to try. */
export function screen(state: SandboxState, path: string, env: NodeJS.ProcessEnv): string {
  const {
    baseUrl,
    mcpUrl,
    facilitatorUrl,
    shopUrl,
    chatUrl,
    rpcUrl,
    chainId,
    contracts,
    accounts,
    products,
  } = state
  const row = (name: string, ...cells: unknown[]) =>
    `  ${name.padEnd(18)}${cells.filter((cell) => cell !== '').join('  ')}`
  const part = ({ agentId, merchantId }: { agentId?: number; merchantId?: number }) =>
    agentId !== undefined ? `agent ${agentId}` : merchantId !== undefined ? `merchant ${merchantId}` : ''
  return [
    '',
    row('service', baseUrl, `reference at ${baseUrl}/docs`),
    row('tools', mcpUrl, `for agents: ${hostsPath(path)}`),
    row('facilitator', facilitatorUrl),
    row('shop', shopUrl, `${products.length} products`),
    row('chat', chatUrl, 'talk to the bot in a browser'),
    row('chain', rpcUrl, `chain id ${chainId}`),
    '',
    ...Object.entries(contracts).map(([name, address]) => row(name, address)),
    '',
    ...accounts.map((account) => row(account.role, account.address, part(account))),
    '',
    `  keys and addresses: ${path}`,
    `  look: curl -s ${baseUrl}/v1/review`,
    `  buy:  ${exampleCommand('buy', env)}`,
    `  then: ${exampleCommand('review', env)}`,
    '',
  ].join('\n')
}
