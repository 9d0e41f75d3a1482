// `referrer-signer registration`: who an agent says it is, in the ERC-8004 form. For a person: what it writes is public for good.
import { parseArgs } from 'node:util'
import { ProtocolError, Registration } from '@referrer/protocol'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import type { Hash } from 'viem'
import { connect } from '../chain/chain.ts'
import { deploymentOf } from '../chain/deployment.ts'
import { isRevert } from '../chain/reverts.ts'
import { send } from '../chain/send.ts'
import { readConfig } from '../config.ts'
import { createContext, type Overrides } from '../context.ts'
import { explain, isExpected, Refused } from '../refused.ts'

const USAGE = `Shows the ERC-8004 registration file of an agent, and with --set lets the URI of its identity point to it. The URI holds the file itself,
so that nothing is hosted.

Usage: npx @referrer/signer registration --agent <id> --name <name> --description <text> [options]

  --image <url>
  --service <name>=<endpoint>   where the agent is reached, such as MCP=https://agent.example/mcp; may be repeated
  --url <url>                   point to this address instead, https or ipfs, where you serve such a file
  --set                         send the transaction; the agent's wallet pays the gas
  --json                        print one JSON document
  --help

The environment is that of the signer: npx @referrer/signer --help.
`

/** The marketplace shows no URI that is longer, in bytes. */
const LONGEST_URI = 8_192

/** Returns the exit code. */
export async function run(args: string[], overrides: Overrides = {}): Promise<number> {
  const string = { type: 'string' } as const
  const boolean = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args,
    options: {
      agent: string,
      name: string,
      description: string,
      image: string,
      service: { type: 'string', multiple: true },
      url: string,
      set: boolean,
      json: boolean,
      help: { ...boolean, short: 'h' },
    },
  })
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  if (values.help) {
    print(USAGE)
    return 0
  }
  try {
    const { uri, file, transaction } = await register(values, overrides)
    const shown = { uri, file: file === undefined ? null : JSON.parse(file), tx_hash: transaction ?? null }
    if (values.json) print(JSON.stringify(shown))
    else {
      print(shown.file ? JSON.stringify(shown.file, null, 2) : uri)
      if (!values.set) print('\nNothing was sent: say --set.')
      else print(transaction ? `\nSet by transaction ${transaction}.` : '\nThe agent has this URI already.')
    }
    return 0
  } catch (error) {
    if (!isExpected(error)) throw error
    print(values.json ? JSON.stringify({ error: explain(error) }) : explain(error))
    return 1
  }
}

interface Wish {
  agent?: string | undefined
  name?: string | undefined
  description?: string | undefined
  image?: string | undefined
  service?: string[] | undefined
  url?: string | undefined
  set: boolean
}

async function register(wish: Wish, overrides: Overrides) {
  if (!/^(?:0|[1-9]\d{0,30})$/.test(wish.agent ?? '')) throw new Refused('say which agent: --agent <id>')
  if (wish.url === undefined && (!wish.name || !wish.description))
    throw new Refused('say who the agent is: --name <name> --description <text>')
  const agentId = BigInt(wish.agent ?? '')
  const context = createContext(readConfig(process.env), overrides)
  const account = context.config.keys.ofAgent(agentId)
  const { contracts } = await deploymentOf(context)
  const chain = await connect(context)
  const identity = { chainId: chain.chainId, identityRegistry: contracts.IdentityRegistry, agentId }
  const file = wish.url === undefined ? fileOf(wish, identity) : undefined
  const uri = file === undefined ? addressOf(wish.url) : Registration.toDataUri(file)
  if (Buffer.byteLength(uri) > LONGEST_URI) {
    throw new Refused(
      `the URI has ${Buffer.byteLength(uri)} bytes, and the marketplace shows ${LONGEST_URI}: shorten it, or serve the file and name it with --url`,
    )
  }
  if (!wish.set) return { uri, file }
  const registry = { address: contracts.IdentityRegistry, abi: identityRegistryAbi } as const
  const current = await chain.client
    .readContract({ ...registry, functionName: 'tokenURI', args: [agentId] })
    .catch((error: unknown) => {
      if (isRevert(error)) throw new Refused(`no such agent: ${agentId}`)
      throw error
    })
  if (current === uri) return { uri, file }
  const call = { ...registry, functionName: 'setAgentURI', args: [agentId, uri] } as const
  const { transactionHash: transaction }: { transactionHash: Hash } = await send(
    context,
    chain,
    account,
    call,
  )
  return { uri, file, transaction }
}

function fileOf(
  { name = '', description = '', image = '', service = [] }: Wish,
  identity: Registration.Registration['registrations'][number],
): string {
  const services = service.map((text) => {
    const [, called, endpoint] = /^([^=]+)=(.+)$/.exec(text) ?? []
    if (!called || !endpoint) throw new Refused(`--service must be <name>=<endpoint>, not "${text}"`)
    return { name: called, endpoint }
  })
  try {
    return Registration.serialize({
      name,
      description,
      image,
      services,
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
  throw new Refused('--url must be an https or ipfs address')
}
