import { parseArgs } from 'node:util'
import { Ids, ProductId } from '@referrer/protocol'
import { type Address, isAddress, isHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Output, ProjectData } from '../shop/index.ts'
import { show } from './report.ts'
import { type CheckOptions, checkEndpoint } from './run.ts'

export const HELP = `Checks whether a referral endpoint answers as buyers need it. Never pays.

  referrer-merchant check <url> --chain-id <id> --rpc <url> --registry <address>
  referrer-merchant check                in the folder of a shop: all of it is taken from referrer.json

  --chain-id <id>        the chain that the endpoint sells on
  --rpc <url>            a node of it; may be given several times
  --registry <address>   the market's address registry
  --merchant-id <id>     also check that the merchant is active
  --product-id <hex>     also check that its product is active, and its least price
  --facilitator <url>    also check that this facilitator settles on the chain, and so small a price
  --json                 print {pass, checks: [{name, ok, detail}]}
  --help                 print this

Environment:
  MERCHANT_SIGNING_KEY   the hot key: also check that it may settle for --merchant-id

Exit code: 0 when all is well, 1 when a check failed, 2 when the command is wrong.`

/** Runs the command and returns its exit code. */
export async function runCommand(
  args: string[],
  env: NodeJS.ProcessEnv,
  { out, err }: Output,
  project: ProjectData = {},
): Promise<number> {
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(args, env, project)
  } catch (error) {
    err(`${error instanceof Error ? error.message : error}\nTry: referrer-merchant --help`)
    return 2
  }
  if (parsed === 'help') {
    out(HELP)
    return 0
  }
  const { options, isJson } = parsed
  const report = await checkEndpoint(options)
  out(isJson ? JSON.stringify(report, null, 2) : show(options.url, report))
  return report.pass ? 0 : 1
}

function parse(
  args: string[],
  env: NodeJS.ProcessEnv,
  project: ProjectData,
): 'help' | { options: CheckOptions; isJson: boolean } {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'chain-id': { type: 'string' },
      rpc: { type: 'string', multiple: true },
      registry: { type: 'string' },
      'merchant-id': { type: 'string' },
      'product-id': { type: 'string' },
      facilitator: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  // What is called by its flags is checked as the flags say: the shop's own values are not mixed in.
  const isOwn = positionals.length === 1 && project.merchantId !== undefined
  const own = isOwn ? ownEndpoint(project, values['product-id']) : undefined
  const [command, url = own?.url, ...rest] = positionals
  if (command !== 'check' || url === undefined || rest.length > 0) throw new Error('say: check <url>')
  const {
    'chain-id': chainId = own?.chainId,
    rpc = own?.rpc ?? [],
    registry = own?.registry,
    'merchant-id': merchantId = own?.merchantId,
    'product-id': productId = own?.productId,
    facilitator = own?.facilitator,
  } = values
  if (rpc.length === 0) throw new Error('--rpc is missing')
  const options: CheckOptions = {
    url: webUrl(url, 'the endpoint'),
    chainId: chain(required(chainId, '--chain-id')),
    rpcUrls: rpc.map((one) => webUrl(one, '--rpc')),
    addressRegistry: address(required(registry, '--registry')),
    merchantId: merchantId === undefined ? undefined : BigInt(Ids.parse(merchantId, '--merchant-id')),
    productId: productId === undefined ? undefined : ProductId.parse(productId),
    facilitatorUrl: facilitator === undefined ? undefined : webUrl(facilitator, '--facilitator'),
    signer: signerOf(env.MERCHANT_SIGNING_KEY),
  }
  if (options.merchantId === undefined && options.productId !== undefined) {
    throw new Error('--product-id needs --merchant-id')
  }
  return { options, isJson: values.json }
}

/** What the flags would say about a product of the shop in this folder. */
function ownEndpoint(project: ProjectData, wanted: string | undefined) {
  const products = Object.values(project.products ?? {}).filter(({ endpoint }) => endpoint !== undefined)
  const [first, second] = wanted === undefined ? products : products.filter(({ id }) => id === wanted)
  if (second) throw new Error(`say which product: --product-id ${products.map(({ id }) => id).join(' or ')}`)
  if (!first)
    throw new Error('the shop of this folder has no endpoint yet: run describe, or say: check <url>')
  return {
    url: first.endpoint,
    productId: first.id,
    chainId: text(project.chainId),
    merchantId: text(project.merchantId),
    rpc: project.rpc === undefined ? [] : [project.rpc],
    registry: project.addressRegistry,
    facilitator: project.facilitator,
  }
}

const text = (value: number | undefined) => (value === undefined ? undefined : String(value))

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(`${name} is missing`)
  return value
}

function chain(value: string): number {
  const chainId = Ids.parse(value, '--chain-id')
  if (chainId === 0) throw new Error('--chain-id must be a chain id, not 0')
  return chainId
}

function webUrl(value: string, what: string): string {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
    throw new Error(`${what} must be an http(s) URL, not "${value}"`)
  }
  return value
}

function address(value: string): Address {
  if (!isAddress(value)) throw new Error(`--registry must be an address, not "${value}"`)
  return value
}

function signerOf(key: string | undefined): Address | undefined {
  if (key === undefined || key === '') return undefined
  if (!isHex(key) || key.length !== 66)
    throw new Error('MERCHANT_SIGNING_KEY must be a 0x-prefixed 32-byte private key')
  return privateKeyToAddress(key)
}
