// A market in which money moves: a chain, a facilitator, a shop by the merchant's library, and buyers' wallets.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mintUsdc, privateKeyOf, registerIdentity } from '@referrer/contracts/local'
import { createPaymentMemory, createReferralEndpoint } from '@referrer/merchant'
import { nodeHandler } from '@referrer/merchant/node'
import { AttestationKey, type AttributionToken, X402 } from '@referrer/protocol'
import { type Hex, hexToBytes, numberToHex, type PrivateKeyAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import {
  ATTESTATION_SEED,
  PRICE,
  startTestFacilitator,
  type TestFacilitator,
} from '../../facilitator/test/harness.ts'
import { type StandIn, startStandIn } from './stand-in.ts'

export { PRICE } from '../../facilitator/test/harness.ts'

export interface Wallet {
  account: PrivateKeyAccount
  key: Hex
  agentId: string
}

// biome-ignore lint/suspicious/noExplicitAny: tests change all of it
export type Offer = { accepts: any[]; extensions: Record<string, unknown> }

export type Behaviour = (
  request: IncomingMessage,
  response: ServerResponse,
  honest: () => Promise<void>,
) => unknown

export interface World {
  m: TestFacilitator
  standIn: StandIn
  buying: {
    url: string
    /** What came in, newest last. */
    asked: IncomingMessage[]
    /** Undefined: as an honest shop does. */
    behave: Behaviour | undefined
    /** It takes money and serves nothing. */
    isOut: boolean
  }
  /** The offer of the shop, changed; the rest is honest. */
  offering(change: (offer: Offer, response: ServerResponse) => void): Behaviour
  wallets: Wallet[]
  /** A wallet that has not bought yet. */
  next(): Wallet
  link(change?: Partial<AttributionToken.Terms>, seed?: number): Promise<string>
  /** The newest payment that a buyer sent. */
  sent(): {
    header: string
    payload: X402.PaymentPayload.ReceivedPaymentPayload
    headers: IncomingMessage['headers']
  }
  /** How much a wallet has spent since it got its money. */
  spent(wallet: Wallet): Promise<bigint>
  /** For a signer that knows all wallets. */
  env: Record<string, string>
  close(): Promise<void>
}

const MONEY = 100_000_000n

/** What the marketplace signs with now; the links of most tests are by the key before, which is still good. */
const NEWEST_SEED = 0xa2
const pubKeyOf = async (seed: number) =>
  (await AttestationKey.signingKey(hexToBytes(numberToHex(seed, { size: 32 })))).attestationPubKey

export async function startWorld(walletCount: number): Promise<World> {
  const m = await startTestFacilitator({ buyers: 0 })
  const standIn = await startStandIn({
    chainId: m.chainId,
    reviewRegistry: m.market.addresses.ReviewRegistry,
    attestationPubKeys: [await pubKeyOf(NEWEST_SEED), await pubKeyOf(ATTESTATION_SEED)],
  })
  const buying: World['buying'] = { url: '', asked: [], behave: undefined, isOut: false }
  const honest = nodeHandler(
    createReferralEndpoint({
      chainId: m.chainId,
      rpcUrl: m.chain.rpcUrl ?? '',
      addressRegistry: m.market.addresses.AddressRegistry,
      facilitatorUrl: m.facilitator.url,
      setupUrl: m.env.SETUP_URL ?? '',
      merchantId: m.merchant.merchantId,
      payments: createPaymentMemory(),
      price: PRICE,
      serve() {
        if (buying.isOut) throw new Error('out of jokes')
        return { joke: 'a good one' }
      },
    }),
  )
  const server = createServer((request, response) => {
    buying.asked.push(request)
    const serve = () => honest(request, response)
    void (buying.behave ? buying.behave(request, response, serve) : serve())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  buying.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/buy`

  // The first identity is the stranger's: agent 0.
  const { stranger } = m.market.accounts
  await mintUsdc(m.market, stranger.address, MONEY)
  const zero = {
    account: stranger as unknown as PrivateKeyAccount,
    key: privateKeyOf(stranger),
    agentId: '0',
  }
  const wallets: Wallet[] = [zero]
  for (let count = 1; count < walletCount; count += 1) wallets.push(await newWallet(m))
  const free = wallets.slice(1)

  return {
    m,
    standIn,
    buying,
    offering: (change) => (request, response, honest) => {
      if (request.headers['payment-signature']) return honest()
      const attributionToken = request.headers['x-referrer-token']
      const offer = {
        x402Version: 2,
        accepts: [structuredClone(m.shop.offer)],
        extensions: { attributionToken },
      }
      change(offer, response)
      response.writeHead(402, { 'content-type': 'application/json' }).end(JSON.stringify(offer))
    },
    wallets,
    next() {
      const wallet = free.shift()
      if (!wallet) throw new Error('all wallets are used: ask for more')
      return wallet
    },
    link: async (change = {}, seed) =>
      `https://market.test/r/${await m.mint({ merchantEndpoint: buying.url, ...change }, seed)}`,
    sent() {
      const paid = buying.asked.filter(({ headers }) => headers['payment-signature'])
      const headers = paid.at(-1)?.headers ?? {}
      const header = String(headers['payment-signature'])
      return { header, payload: X402.PaymentPayload.deserialize(header), headers }
    },
    spent: async ({ account }) => MONEY - (await m.balanceOf(account.address)),
    env: {
      AGENT_KEYS: wallets.map(({ agentId, key }) => `${agentId}:${key}`).join(','),
      BASE_RPC_URL: m.chain.rpcUrl ?? '',
      CHAIN_ID: String(m.chainId),
      REVIEW_REGISTRY_ADDRESS: m.market.addresses.ReviewRegistry,
      COMMISSION_ESCROW_ADDRESS: m.market.addresses.CommissionEscrow,
      REFERRER_AGENT_MCP_URL: standIn.url,
      FACILITATOR_URL: m.facilitator.url,
      ALLOW_PRIVATE_HOSTS: 'true',
      // All wallets of a test together buy more than a signer pays in a day.
      MAX_PER_DAY: 'unlimited',
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await standIn.close()
      await m.close()
    },
  }
}

async function newWallet(m: TestFacilitator): Promise<Wallet> {
  const key = generatePrivateKey()
  const account = privateKeyToAccount(key)
  await m.chain.client.setBalance({ address: account.address, value: 10n ** 18n })
  await mintUsdc(m.market, account.address, MONEY)
  return { account, key, agentId: String(await registerIdentity(m.market, account)) }
}
