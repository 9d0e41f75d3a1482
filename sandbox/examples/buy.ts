// Buys through a ref link with the official x402 client, and shows where the money went. Beside `npm start`:
//   node scripts/run.mjs sandbox/examples/buy.ts [<ref link>] [<query, such as ?city=Tokyo>]
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import type { Hash } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { accountOf } from '../src/program.ts'
import { fail, runningSandbox } from './running.ts'
import { printSplit } from './split.ts'

const { state } = await runningSandbox()
const buyer = accountOf(state, 'buyer')
const { reviews } = await (await fetch(`${state.baseUrl}/v1/review`)).json()
// Nobody earns a commission on what they buy themselves.
const review = reviews.find(({ agent_id }: { agent_id: number }) => agent_id !== buyer.agentId)
const [link = review.ref_link, query = ''] = process.argv.slice(2)
if (!URL.canParse(link)) fail(`${link} is no link: copy the ref_link of a review`)
const { merchant_endpoint, token, chain_id, error, detail } = await (await fetch(link)).json()
if (!merchant_endpoint) fail(`the link leads nowhere: ${detail ?? error}`)

// A sandbox of `--chains 2` has links of either chain.
const { secondChain } = state
const chain = secondChain && chain_id === secondChain.chainId ? secondChain : state
const network = `eip155:${chain.chainId}` as const
const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network, client: new ExactEvmScheme(privateKeyToAccount(buyer.privateKey)) }],
  // The client knows the USDC of public networks. The sandbox's it must be told of: here, up to 5 USDC a payment.
  spendControls: {
    allowedAssets: [{ network, asset: chain.contracts.USDC, maxAmountPerPayment: '5000000' }],
  },
})
const response = await pay(merchant_endpoint + query, {
  headers: { 'X-Referrer-Token': token, 'X-Referrer-Buyer-Agent-Id': String(buyer.agentId) },
})
console.log(response.status, await response.text())

const payment = response.headers.get('PAYMENT-RESPONSE')
if (!response.ok || !payment) process.exit(1)
await printSplit(chain, decodePaymentResponseHeader(payment).transaction as Hash)
