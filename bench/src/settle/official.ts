// The official facilitator as its examples set it up, with one relayer key. Behind node:http, which is faster than their Express.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { x402Facilitator } from '@x402/core/facilitator'
import type { SettleRequest } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createWalletClient, type Hex, http, nonceManager, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { hardhat } from 'viem/chains'

const { values } = parseArgs({
  options: { rpc: { type: 'string', default: '' }, 'nonce-manager': { type: 'boolean', default: false } },
})

const account = privateKeyToAccount(
  process.env.RELAYER_PRIVATE_KEY as Hex,
  values['nonce-manager'] ? { nonceManager } : {},
)
/** As often as ours looks for what was mined; viem's default would be every four seconds. */
const pollingInterval = 100
const transport = http(values.rpc)
const client = createWalletClient({ account, chain: hardhat, transport, pollingInterval }).extend(
  publicActions,
)
const signer = toFacilitatorEvmSigner({
  address: account.address,
  getCode: (args) => client.getCode(args),
  readContract: (args) => client.readContract({ ...args, args: args.args ?? [] }),
  verifyTypedData: (args) => client.verifyTypedData(args as Parameters<typeof client.verifyTypedData>[0]),
  writeContract: (args) => client.writeContract(args),
  sendTransaction: (args) => client.sendTransaction(args),
  waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args),
})
const facilitator = new x402Facilitator().register(`eip155:${hardhat.id}`, new ExactEvmScheme(signer))

const server = createServer(async (request, response) => {
  const { paymentPayload, paymentRequirements } = (await json(request)) as SettleRequest
  const answer = await facilitator.settle(paymentPayload, paymentRequirements).then(
    (body) => ({ status: 200, body }),
    (error: Error) => ({ status: 500, body: { error: error.message } }),
  )
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
})
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
