import { ProtocolError, Registration } from '@referrer/protocol'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { z } from 'zod'
import { connect } from '../chain/chain.ts'
import { deploymentOf } from '../chain/deployment.ts'
import { send } from '../chain/send.ts'
import { chainId, id, whole } from '../fields.ts'
import { Refused } from '../refused.ts'
import { tool } from '../tool.ts'

/** The marketplace shows no URI that is longer, in bytes. */
const LONGEST_URI = 8_192

export const setRegistration = tool({
  name: 'set_registration',
  title: 'Say who the agent is (ERC-8004)',
  description:
    "Sets the URI of the agent's ERC-8004 identity to a registration file with its name, description and services, which the URI itself holds, so that nothing is hosted. With url the URI is that address instead, where you serve such a file. One transaction; the agent's wallet pays the gas. Public for good.",
  details:
    'The marketplace reads the file within minutes and shows it with the agent; nothing in it counts. dry_run only shows the file. Refusals begin with: "the contract refuses: Not authorized" (the wallet does not own the agent), "unchanged", "wrong chain". "tx reverted": nothing changed.',
  input: z.strictObject({
    agent_id: id('The agent.'),
    name: z.string().optional(),
    description: z.string().optional(),
    image: z.string().optional().describe('A URL.'),
    services: z
      .array(z.strictObject({ name: z.string(), endpoint: z.string(), version: z.string().optional() }))
      .optional()
      .describe('Where it is reached, such as {"name":"MCP","endpoint":"https://…"}.'),
    url: z.string().optional(),
    dry_run: z.boolean().optional().describe('Send nothing.'),
    chain_id: chainId,
  }),
  output: z.object({
    tx_hash: z.string().nullable().describe('Null: dry_run.'),
    agent_id: z.int(),
    uri: z.string(),
    file: z.record(z.string(), z.unknown()).nullable().describe('Null: it is at url.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  async handle(context, { agent_id, url, dry_run: isDry, chain_id, ...about }) {
    const account = context.config.keys.ofAgent(agent_id)
    const { contracts } = await deploymentOf(context)
    const chain = await connect(context, chain_id)
    const identity = {
      chainId: chain.chainId,
      identityRegistry: contracts.IdentityRegistry,
      agentId: agent_id,
    }
    const file = url === undefined ? fileOf(about, identity) : undefined
    const uri = file === undefined ? addressOf(url) : Registration.toDataUri(file)
    if (Buffer.byteLength(uri) > LONGEST_URI) {
      throw new Refused(
        `the URI has ${Buffer.byteLength(uri)} bytes, and the marketplace shows ${LONGEST_URI}: shorten it, or serve the file and name its url`,
      )
    }
    const shown = { agent_id: whole(agent_id, 'agent'), uri, file: file ? JSON.parse(file) : null }
    const registry = { address: contracts.IdentityRegistry, abi: identityRegistryAbi } as const
    const current = await chain.client
      .readContract({ ...registry, functionName: 'tokenURI', args: [agent_id] })
      .catch(() => undefined)
    if (current === uri) throw new Refused('unchanged: the agent has this URI already')
    if (isDry) return { ...shown, tx_hash: null }
    const { transactionHash } = await send(context, chain, account, {
      ...registry,
      functionName: 'setAgentURI',
      args: [agent_id, uri],
    })
    return { ...shown, tx_hash: transactionHash }
  },
})

interface About {
  name?: string | undefined
  description?: string | undefined
  image?: string | undefined
  services?: { name: string; endpoint: string; version?: string | undefined }[] | undefined
}

function fileOf(about: About, identity: Registration.Registration['registrations'][number]): string {
  const { name = '', description = '', image = '', services = [] } = about
  try {
    return Registration.serialize({
      name,
      description,
      image,
      services: services.map(({ version, ...service }) => ({ ...service, ...(version && { version }) })),
      registrations: [identity],
      supportedTrust: ['reputation'],
      active: true,
    })
  } catch (error) {
    throw error instanceof ProtocolError ? new Refused(error.message) : error
  }
}

function addressOf(url: string | undefined): string {
  if (url && /^(?:https|ipfs):\/\/\S+$/.test(url) && URL.canParse(url)) return url
  throw new Refused('url must be an https or ipfs address')
}
