import { exampleCommand, type SandboxState } from './state.ts'
import { hostsPath } from './tool-servers.ts'

/** What to try first, and where everything is. Contracts and keys are in the state file. */
export function screen(state: SandboxState, path: string, env: NodeJS.ProcessEnv): string {
  const { baseUrl, mcpUrl, facilitatorUrl, shopUrl, chatUrl, faucetUrl, rpcUrl, chainId, products } = state
  const second = state.secondChain
  const row = (name: string, url: string, about = '') => `  ${name.padEnd(13)}${url}${about && `  ${about}`}`
  return [
    '',
    ...(products.length > 0 ? demoCommands(env) : bareCommands(state)),
    '',
    row('service', baseUrl, `reference at ${baseUrl}/docs`),
    row('tools', mcpUrl, `for agents: ${hostsPath(path)}`),
    row('facilitator', facilitatorUrl),
    ...(products.length > 0 ? [row('shops', shopUrl, `${products.length} products`)] : []),
    row('chat', chatUrl, 'talk to the bot in a browser'),
    row('faucet', faucetUrl, 'gas and USDC for any address'),
    row('chain', rpcUrl, `chain id ${chainId}`),
    ...(second ? [row('second chain', second.rpcUrl, `chain id ${second.chainId}`)] : []),
    ...(second?.products.length
      ? [row('its shop', second.shopUrl, `${second.products.length} products`)]
      : []),
    row('accounts', path, 'with their keys, and the contracts'),
    '',
  ].join('\n')
}

const demoCommands = (env: NodeJS.ProcessEnv) => [
  `  find: ${exampleCommand('discover', env)}`,
  `  buy:  ${exampleCommand('buy', env)}`,
  `  then: ${exampleCommand('review', env)}`,
]

const bareCommands = ({ baseUrl, faucetUrl, accounts }: SandboxState) => [
  `  read: curl -s ${baseUrl}/.well-known/referrer-agent`,
  `  fund: curl -s ${faucetUrl} -d '{"address":"${accounts.find(({ role }) => role === 'stranger')?.address}"}'`,
  `  look: curl -s ${baseUrl}/v1/merchant`,
]
