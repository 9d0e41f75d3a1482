// A user's program: it uses what each library exports for Node. The user's TypeScript compiles it, every Node runs it.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DeploymentError, NETWORKS, readDeployment } from '@referrer/client/chain'
import { addressIn, readKeystore, writeKeystore } from '@referrer/client/keystore'
import { createPaymentMemory, createReferralEndpoint, type ReferralConfig } from '@referrer/merchant'
import { expressHandler } from '@referrer/merchant/express'
import { fastifyReferral } from '@referrer/merchant/fastify'
import { honoHandler } from '@referrer/merchant/hono'
import { nextHandlers } from '@referrer/merchant/next'
import { nodeHandler } from '@referrer/merchant/node'
import { officialReferral } from '@referrer/merchant/x402'
import { Money, Recovery, RequestSignature } from '@referrer/protocol'
import { splitRouterAbi } from '@referrer/protocol/abi'
import { createPublicClient, getAbiItem, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const results: Record<string, unknown> = {}

const key = generatePrivateKey()
const account = privateKeyToAccount(key)
const body = '{}'
const signature = await RequestSignature.sign(account, body, 1_800_000_000)
results.signer = (await RequestSignature.recover({ ...signature, body })) === account.address
results.recovery = (await Recovery.load()).implementation
results.money = Money.format(Money.parse('1.50'))
results.abi = getAbiItem({ abi: splitRouterAbi, name: 'settle' })?.type

const config: ReferralConfig = {
  chainId: NETWORKS.sandbox.chainId,
  rpcUrl: 'http://127.0.0.1:1',
  addressRegistry: '0x1cf1a78B12CFd45F03514845b3A6F2d91CE40869',
  facilitatorUrl: 'http://127.0.0.1:1',
  setupUrl: 'http://127.0.0.1:1/',
  merchantId: 5,
  payments: createPaymentMemory(),
  price: '0.10',
  serve: (_request, sale) => ({ paid: Money.format(sale.amount) }),
}
// @ts-expect-error: a price is text
createReferralEndpoint.bind(null, { ...config, price: 0.1 })
const endpoint = createReferralEndpoint(config)
const put = () => new Request('http://shop.test/', { method: 'PUT' })
results.endpoint = (await endpoint.fetch(put())).status
results.hono = (await honoHandler(endpoint)({ req: { raw: put() } })).status
results.next = (await nextHandlers(endpoint).POST(put())).status
results.node = await statusOf(nodeHandler(endpoint))
results.express = await statusOf((request, response) =>
  expressHandler(endpoint)(
    Object.assign(request, { originalUrl: request.url ?? '/', protocol: 'http' }),
    response,
  ),
)
results.fastify = typeof fastifyReferral
results.x402 = typeof officialReferral

const publicClient = createPublicClient({ transport: http(NETWORKS.sandbox.rpcUrl) })
results.chain = await readDeployment(publicClient, { marketUrl: 'http://127.0.0.1:1' }).catch(
  (error: unknown) => error instanceof DeploymentError,
)

const folder = mkdtempSync(join(tmpdir(), 'referrer-consumer-'))
const file = join(folder, 'key.json')
await writeKeystore(file, key, 'a password', { isLight: true })
results.keystore = (await readKeystore(file, 'a password')) === key && addressIn(file) !== undefined
rmSync(folder, { recursive: true })

console.log(JSON.stringify(results))

async function statusOf(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'PUT' })
  await new Promise((resolve) => server.close(resolve))
  return status
}
