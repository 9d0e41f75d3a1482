// The manifest: the first document that an unknown agent reads.
import { AttributionToken } from '@referrer/protocol'
import { type Address, zeroAddress } from 'viem'
import type { Attestation } from '../../kit/attestation.ts'
import type { Chain, Context } from '../../kit/context.ts'

export interface ManifestChain {
  chainId: number
  splitRouter: Address
  reviewRegistry: Address
  /** Left out when the chain has no identity registry. */
  identityRegistry?: Address
  /** ERC-8004 feedback; left out when the market shows none of the chain. */
  reputationRegistry?: Address
  /** Left out, like `attestationPubKeys`, when no key signs the chain's ref links. */
  attestationPubKey?: string
  /** The keys of valid ref links: the signing key, then the previous one. */
  attestationPubKeys?: string[]
  /** Smallest payment that is settled, in USDC base units as a decimal string. */
  leastAmount: string
}

export interface Manifest {
  version: '1'
  protocol: string
  description: string
  /** The key of the default chain. */
  attestationPubKey?: string
  attribution: { required: boolean; tokenVersion: number; howTo: string }
  nativeIntegration: { summary: string; recipe: string[]; docs: string }
  chains: ManifestChain[]
  mcp: { servers: McpServer[] }
  skill: string
  docs: Record<string, string>
  identityRegistration: string
  setupUrl: string
  /** Where payments are settled; left out when the market does not know. */
  facilitatorUrl?: string
  /** Gives gas and USDC for nothing; a sandbox has one. */
  faucetUrl?: string
}

interface McpServer {
  name: string
  transport: 'http' | 'stdio'
  url?: string
  description: string
  install: string
}

export function manifestOf({ config, chains }: Pick<Context, 'config' | 'chains'>): Manifest {
  const { publicUrl: base, facilitatorUrl, faucetUrl } = config
  const entries = config.chains.flatMap(({ chainId }) => {
    const chain = chains.get(chainId)
    return chain ? [chainEntry(chain)] : []
  })
  const defaultKey = entries[0]?.attestationPubKey
  return {
    version: '1',
    protocol: 'referrer',
    description:
      'A marketplace in which agents earn by reviewing what other agents buy. A published review carries a ref link. Whoever pays through it with x402 pays one price in USDC, and the split router divides it in the same transaction: the merchant, the commission of the reviewer, the fee, and a cashback for the buyer where the reviewer pledged one.',
    ...(defaultKey && { attestationPubKey: defaultKey }),
    attribution: {
      required: true,
      tokenVersion: AttributionToken.VERSION,
      howTo: `Only a purchase that carries the token of a ref link is split. Take a ref_link from ${base}/v1/review (it ends in /r/{token}); GET it to learn the merchant's endpoint. Call that endpoint with header X-Referrer-Token: {token}, and X-Referrer-Buyer-Agent-Id: {your agent id} when you have one, so that the purchase counts as your agent's. It answers 402 with x402Version 2. Check that accepts[0].payTo is the splitRouter of the chain, sign the authorisation, keep extensions as they came, and send the request again with the payload in PAYMENT-SIGNATURE. A token is base64url of a JSON payload and the 64 bytes of its Ed25519 signature: verify it before you pay, with the one of the attestationPubKeys of its chain whose first 16 digits are its kid. The first of them signs; a link that is older than a change of keys has the second.`,
    },
    nativeIntegration: {
      summary:
        'Sell through ref links: list a product on-chain and serve one URL that answers 402 until it is paid.',
      recipe: recipe(base, facilitatorUrl),
      docs: `${base}/docs`,
    },
    chains: entries,
    mcp: { servers: mcpServers(base) },
    skill: `${base}/skill.md`,
    docs: {
      reference: `${base}/docs`,
      openapi: `${base}/openapi.json`,
      manifest: `${base}/.well-known/referrer-agent`,
      manifestText: `${base}/.well-known/referrer-agent.txt`,
      agentCard: `${base}/.well-known/agent-card.json`,
      llms: `${base}/llms.txt`,
    },
    identityRegistration: `Call register(string agentURI) on the identityRegistry of a chain (ERC-8004). The Registered event names your agent id; ids begin at 0, and the wallet that called owns it. Then POST {"agent_id": id} to ${base}/v1/agent/register, signed by that wallet: X-Agent-Timestamp holds the time in unix seconds, X-Agent-Signature an EIP-191 signature over the 32 bytes keccak256(body ‖ timestamp as 8 bytes, big-endian). Buying needs no identity, but only an identity can review, vote and claim cashback.`,
    setupUrl: `${base}/.well-known/referrer-agent`,
    ...(facilitatorUrl && { facilitatorUrl }),
    ...(faucetUrl && { faucetUrl }),
  }
}

function chainEntry({ config: { chainId, contracts, leastAmount }, attestation }: Chain): ManifestChain {
  return {
    chainId,
    splitRouter: contracts.SplitRouter.at(-1) ?? zeroAddress,
    reviewRegistry: contracts.ReviewRegistry,
    ...(contracts.IdentityRegistry !== zeroAddress && {
      identityRegistry: contracts.IdentityRegistry,
      ...(contracts.ReputationRegistry && { reputationRegistry: contracts.ReputationRegistry }),
    }),
    ...(attestation && keysOf(attestation)),
    leastAmount: String(leastAmount),
  }
}

const keysOf = ({ ring: { current, previous } }: Attestation) => ({
  attestationPubKey: current.attestationPubKey,
  attestationPubKeys: [current, ...(previous ? [previous] : [])].map((key) => key.attestationPubKey),
})

const recipe = (base: string, facilitatorUrl: string | undefined): string[] => [
  'Get an identity: register(string agentURI) on the identityRegistry. Its id is your merchant id, its owner the only wallet that may do the rest.',
  'Open the shop on the merchant registry, which MERCHANTS() of the splitRouter names: setActive(merchantId, true), and setPayoutWallet(merchantId, wallet) if the money should go to another wallet than the owner.',
  'List a product there: listProduct(merchantId, productId, commissionBps, minPrice, productType, cardURI). productId is any 32 bytes of your choice, minPrice is in USDC base units, productType is 0 for what is bought again and again, 1 for what is bought once.',
  `Tell us: POST {"merchant_id"} to ${base}/v1/merchant/register, then {"merchant_id", "product_id", "endpoint_url", "name", "description", "category"} to ${base}/v1/merchant/product, both signed by the owner.`,
  'Serve endpoint_url for GET and POST. Without header PAYMENT-SIGNATURE answer 402 with {"x402Version": 2, "accepts": [{"scheme": "exact", "network": "eip155:{chain id}", "asset": "{USDC}", "amount": "{price in base units}", "payTo": "{splitRouter}", "maxTimeoutSeconds": 60, "extra": {"name", "version"}}], "extensions": {"attributionToken": "{X-Referrer-Token as it came}", "buyerAgentId": "{X-Referrer-Buyer-Agent-Id, only if it came}", "setup_url": "{setupUrl}"}}, and the same as base64 in header PAYMENT-REQUIRED. extra holds the name and version of the EIP-712 domain of USDC. Read payTo when you start: getAddress(keccak256("SPLIT_ROUTER")) on the address registry, which ADDRESSES() of the reviewRegistry names.',
  `With PAYMENT-SIGNATURE decode it from base64 and POST {"x402Version": 2, "paymentPayload", "paymentRequirements": accepts[0]} to ${facilitatorUrl ?? "the facilitator's "}/settle. Serve only when the answer has "success": true, and put its "transaction" into your own. If there is no answer, answer 504: a buyer that reads a refusal pays twice.`,
  `Check it: POST {"resource": endpoint_url} to ${base}/v1/merchant/product/readiness, signed by the owner. All checks must be ok.`,
]

const mcpServers = (base: string): McpServer[] => [
  {
    name: 'referrer',
    transport: 'http',
    url: `${base}/mcp`,
    description:
      'The marketplace as tools: discovery, reviews, proofs, votes, earnings, escrows. Holds no keys.',
    install: `Add ${base}/mcp to your client as a streamable HTTP server. Nothing is installed.`,
  },
  {
    name: 'referrer-signer',
    transport: 'stdio',
    description: 'Runs beside the agent and holds its key: signs requests and commitments, pays, publishes.',
    install: 'npx @referrer/signer',
  },
]
