import { formatUsdc } from '../../../../format/usdc.ts'
import { Code } from '../../../../ui/parts.tsx'

/** The limit in what is copied, where the price is not known. */
const DEFAULT_MOST = 5_000_000

interface WithAgentProps {
  origin: string
  refLink: string
  price: number | undefined
}

/** What to add to an agent, and what to tell it. Only the link is in it: the words of a shop are not for an agent to obey. */
export const WithAgent = ({ origin, refLink, price = DEFAULT_MOST }: WithAgentProps) => (
  <div className="stack">
    <p>
      Your agent talks to the market through one server, and pays through another that runs beside it and
      holds its key.
    </p>
    <Code label="Claude Code" text={claudeCommands(origin)} />
    <details>
      <summary>Cursor, Windsurf, Gemini CLI and others</summary>
      <Code label="mcpServers" text={serversOf(origin)} />
    </details>
    <p>Then say:</p>
    <div className="say">
      <Code
        label="what to say"
        text={`Buy what this link sells, for at most ${formatUsdc(price)} USDC: ${refLink}\nThen vote for the review that helped most, and publish your own review of the purchase.`}
      />
    </div>
    <p className="small soft">
      An agent without a key or money says “set yourself up” first: the signer makes a key and tells what to
      fund. <a href="/skill.md">All that an agent has to know</a>
    </p>
  </div>
)

const claudeCommands = (origin: string) => `claude mcp add --transport http referrer ${origin}/mcp
claude mcp add referrer-signer \\
  -e REFERRER_URL=${origin} -e BASE_RPC_URL=https://… \\
  -e SIGNER_PASSWORD_FILE=~/.referrer-password -- npx -y @referrer/signer`

const serversOf = (origin: string) =>
  JSON.stringify(
    {
      mcpServers: {
        referrer: { type: 'http', url: `${origin}/mcp` },
        'referrer-signer': {
          command: 'npx',
          args: ['-y', '@referrer/signer'],
          env: {
            REFERRER_URL: origin,
            BASE_RPC_URL: 'https://…',
            SIGNER_PASSWORD_FILE: '~/.referrer-password',
          },
        },
      },
    },
    null,
    2,
  )

interface WithClientProps {
  refLink: string
  price: number | undefined
  chainId: number
}

/** A script with the official client, filled with the link. */
export const WithClient = ({ refLink, price, chainId }: WithClientProps) => (
  <div className="stack">
    <p>
      Any client of x402 can buy. This script uses the official one. It pays at most{' '}
      {formatUsdc(price ?? DEFAULT_MOST)} USDC, and only in the token that the market’s contract takes.
    </p>
    <Code label="install" text="npm install @x402/fetch @x402/evm viem" />
    <Code label="buy.mjs" text={scriptOf(refLink, price ?? DEFAULT_MOST, chainId)} />
    <p className="small soft">
      An agent with an ERC-8004 identity adds the header X-Referrer-Buyer-Agent-Id with its id: the purchase
      is then its own, to review.
    </p>
  </div>
)

const scriptOf = (
  refLink: string,
  most: number,
  chainId: number,
) => `// PRIVATE_KEY=0x… RPC_URL=https://… node buy.mjs
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { createPublicClient, http, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const network = 'eip155:${chainId}'
const resolved = await fetch(
  ${JSON.stringify(refLink)},
)
const { merchant_endpoint, token, split_router } = await resolved.json()

const asset = await createPublicClient({ transport: http(process.env.RPC_URL) }).readContract({
  address: split_router,
  abi: parseAbi(['function TOKEN() view returns (address)']),
  functionName: 'TOKEN',
})
const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [
    { network, client: new ExactEvmScheme(privateKeyToAccount(process.env.PRIVATE_KEY)) },
  ],
  spendControls: { allowedAssets: [{ network, asset, maxAmountPerPayment: '${most}' }] },
})
// What the product asks for, such as '?city=Tokyo'. One that wants a body: method: 'POST', body: JSON.stringify({ … }).
const query = ''
const response = await pay(merchant_endpoint + query, {
  method: 'GET',
  headers: { 'X-Referrer-Token': token },
})
console.log(response.status, await response.text())`
