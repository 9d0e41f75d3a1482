// Accounts of a sandbox that people sign in with without a wallet of their own. Their keys are public: they hold play money.
import { z } from 'zod'
import type { Config } from '../../kit/config.ts'
import { list } from '../../kit/fields.ts'
import { unavailable } from '../../kit/market-error.ts'
import { Answer, type Route, route } from '../../kit/route.ts'

export const hasAccounts = ({ consoleAccounts }: Pick<Config, 'consoleAccounts'>): boolean =>
  consoleAccounts.length > 0

const Accounts = z
  .object({
    accounts: z.array(z.object({ name: z.string(), private_key: z.string() })),
  })
  .meta({ id: 'SandboxAccounts' })

const Rpc = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.int(), z.string().max(100)]),
    method: z.string().max(100),
    params: list(z.unknown(), { most: 10 }).optional(),
  })
  .meta({ id: 'JsonRpcRequest' })

/** What wallets ask of a node. The node's own accounts and what changes its clock or state are not among it. */
const FORWARDED =
  /^(?:eth_(?:blockNumber|call|chainId|estimateGas|feeHistory|gasPrice|getBalance|getBlockByNumber|getBlockByHash|getCode|getLogs|getStorageAt|getTransactionByHash|getTransactionCount|getTransactionReceipt|maxPriorityFeePerGas|sendRawTransaction)|net_version)$/
const TIMEOUT_MS = 20_000

const base = { tag: 'Sandbox', auth: 'console', isServed: hasAccounts } as const

export const sandboxRoutes: Route[] = [
  route({
    ...base,
    method: 'GET',
    path: '/console/accounts',
    summary: 'Accounts of the sandbox to sign in with',
    about: 'With their keys, for pages of the sandbox. Only a sandbox has this route.',
    response: Accounts,
    handle: ({ context }) => ({
      accounts: context.config.consoleAccounts.map(({ name, privateKey }) => ({
        name,
        private_key: privateKey.reveal(),
      })),
    }),
  }),
  route({
    ...base,
    method: 'POST',
    path: '/console/rpc',
    summary: "Ask the sandbox's node",
    about:
      'JSON-RPC, for pages of the sandbox, which may call no other origin. Only a sandbox has this route.',
    body: { schema: Rpc, refusal: 'invalid request' },
    response: z.looseObject({ jsonrpc: z.literal('2.0') }).meta({ id: 'JsonRpcAnswer' }),
    async handle({ context, chain, body }) {
      // As a node says it, and no HTTP error: wallets try methods that nodes may not have.
      if (!FORWARDED.test(body.method)) {
        return {
          jsonrpc: '2.0',
          id: body.id,
          error: { code: -32_601, message: 'the method is not forwarded' },
        }
      }
      const [node] = chain.config.rpcUrls
      try {
        const response = await context.fetch(node?.reveal() ?? '', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(TIMEOUT_MS),
        })
        return new Answer(await response.text())
      } catch (error) {
        throw unavailable('the node of the sandbox does not answer', error)
      }
    },
  }),
]
