// Buys through a ref link with the official x402 client, and shows where the money went. Beside `npm start`:
//   node scripts/run.mjs sandbox/examples/buy.ts [<ref link>] [<query, such as ?city=Tokyo>]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commissionEscrowAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { createPublicClient, formatUnits, type Hex, http, parseEventLogs } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const state = JSON.parse(readFileSync(join(process.env.SANDBOX_DIR ?? '.sandbox', 'state.json'), 'utf8'))
const buyer = state.accounts.find(({ role }: { role: string }) => role === 'buyer')
const json = async (url: string) => (await fetch(url, { headers: { accept: 'application/json' } })).json()

const network = `eip155:${state.chainId}` as const
const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network, client: new ExactEvmScheme(privateKeyToAccount(buyer.privateKey)) }],
  // The client knows the USDC of public networks by itself. This one it must be told of: here, and up to 5 USDC a payment.
  spendControls: {
    allowedAssets: [{ network, asset: state.contracts.USDC, maxAmountPerPayment: '5000000' }],
  },
})

const [link = (await json(`${state.baseUrl}/v1/review`)).reviews[0].ref_link, query = ''] =
  process.argv.slice(2)
const { merchant_endpoint, token } = await json(link)
const response = await pay(merchant_endpoint + query, {
  headers: { 'X-Referrer-Token': token, 'X-Referrer-Buyer-Agent-Id': String(buyer.agentId) },
})
console.log(`${response.status} from ${merchant_endpoint}${query}`)
console.log(await response.text())
if (!response.ok) process.exit(1)

const { transaction } = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
const chain = createPublicClient({ transport: http(state.rpcUrl) })
const { logs } = await chain.waitForTransactionReceipt({ hash: transaction as Hex })
const [escrow] = parseEventLogs({ abi: commissionEscrowAbi, eventName: 'EscrowDeposited', logs })
const usdc = (amount = 0n) => `${formatUnits(amount, 6)} USDC`
console.log(`paid with ${transaction}, escrow ${escrow?.args.escrowId}:`)
const { SplitRouter, CommissionEscrow } = state.contracts
const names: Record<string, string> = { [SplitRouter]: 'split router', [CommissionEscrow]: 'escrow' }
for (const { role, address } of state.accounts) names[address] ??= role
for (const { args } of parseEventLogs({ abi: sandboxUSDCAbi, eventName: 'Transfer', logs }))
  console.log(`  ${names[args.from]} → ${names[args.to]}: ${usdc(args.value)}`)
const { fee, heldBack, cashback } = escrow?.args ?? {}
console.log(`  in escrow: ${usdc(heldBack)} held back, ${usdc(cashback)} cashback, ${usdc(fee)} fee`)
