import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { explain, type Output, parseWebUrl, reporterOf } from '@referrer/merchant/shop'
import { createShop } from './create.ts'

export const HELP = `Makes a shop that sells to software agents, from an empty folder to the first sale.

  npm create referrer-shop <folder> [-- flags]

  --name <name>          what is sold
  --price <USDC>         such as 0.05
  --commission <percent> the share of whoever brings a buyer, such as 10
  --framework <name>     hono, express, fastify or next
  --network <name>       sandbox, sandbox-2, base-sepolia, base, or the id of another chain
  --market <url>         the market; the sandbox's is known
  --rpc <url>            a node of the chain
  --endpoint <url>       where buyers reach the shop, if it is online already
  --description <text>   what a buyer gets
  --category <category>  such as data, text or images
  --facilitator <url>    who settles, where the market does not tell
  --no-install           do not run npm install
  --packages <folder>    take the libraries from packed packages instead of the registry
  --yes                  ask nothing: take the default where a flag is left out
  --json                 print the result as JSON
  --help                 print this

What no flag says is asked. Run it again in the same folder to continue where it stopped.

Environment:
  REFERRER_URL           the market, and REFERRER_RPC_URL a node, where no flag names them
  REFERRER_PASSWORD      the password of the owner's key; else it is asked for. On the sandbox it may be left out.`

export interface Surroundings {
  directory: string
  env: NodeJS.ProcessEnv
  isInteractive: boolean
  output: Output
}

/** Flags first, then the environment. */
const placeIn = (flags: { market: string | undefined; rpc: string | undefined }, env: NodeJS.ProcessEnv) => ({
  market: flags.market ?? env.REFERRER_URL,
  rpc: flags.rpc ?? env.REFERRER_RPC_URL,
})

/** Returns the exit code. */
export async function run(
  args: string[],
  { directory, env, isInteractive, output }: Surroundings,
): Promise<number> {
  const { out, err } = output
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(args)
  } catch (error) {
    err(`${explain(error).split('. ', 1)[0]}\nTry: npm create referrer-shop -- --help`)
    return 2
  }
  const { values, folder } = parsed
  if (values.help) {
    out(HELP)
    return 0
  }
  if (folder === undefined) {
    err('say in which folder: npm create referrer-shop my-shop')
    return 2
  }
  const { name, price, commission, framework, network, market, rpc, endpoint, description, category } = values
  try {
    const created = await createShop({
      directory: resolve(directory, folder),
      given: { name, price, commission, framework, network, ...placeIn({ market, rpc }, env) },
      endpoint: endpoint === undefined ? undefined : parseWebUrl(endpoint, '--endpoint'),
      description,
      category,
      facilitator:
        values.facilitator === undefined ? undefined : parseWebUrl(values.facilitator, '--facilitator'),
      packages: values.packages === undefined ? undefined : resolve(directory, values.packages),
      isInstalled: !values['no-install'],
      mayAsk: isInteractive && !values.yes,
      env,
      reporter: reporterOf(output, { isJson: values.json }),
    })
    out(
      values.json
        ? JSON.stringify(created, null, 2)
        : ['', 'Next:', ...created.next.map((line) => `  ${line}`)].join('\n'),
    )
    return 0
  } catch (error) {
    err(explain(error))
    return 1
  }
}

function parse(args: string[]) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      price: { type: 'string' },
      commission: { type: 'string' },
      framework: { type: 'string' },
      network: { type: 'string' },
      market: { type: 'string' },
      rpc: { type: 'string' },
      endpoint: { type: 'string' },
      description: { type: 'string' },
      category: { type: 'string' },
      facilitator: { type: 'string' },
      packages: { type: 'string' },
      'no-install': { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (positionals.length > 1) throw new Error(`name one folder, not ${positionals.length}`)
  return { values, folder: positionals[0] }
}
