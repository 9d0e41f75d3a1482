import { type LocalChain, startLocalChain } from '@referrer/contracts/local'
import {
  type Account,
  type Chain,
  createPublicClient,
  createWalletClient,
  custom,
  defineChain,
  type Hash,
  http,
  type PublicClient,
  parseEther,
  parseGwei,
  type Transport,
  type WalletClient,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { mined } from './transaction.ts'

const chainId = 31_437
const OTHER = `0x${'77'.repeat(20)}` as const
const SOON = { isFresh: true }

let local: LocalChain
let reads: PublicClient
let wallet: WalletClient<Transport, Chain, Account>
/** What the node has answered, in order. */
let answered: string[]

beforeAll(async () => {
  local = await startLocalChain({ chainId, port: 0 })
  await local.client.setAutomine(false)
})
afterAll(() => local.close())

beforeEach(async () => {
  const account = privateKeyToAccount(generatePrivateKey())
  await local.client.setBalance({ address: account.address, value: parseEther('1') })
  answered = []
  const node = http(local.rpcUrl)({})
  const transport = custom({
    async request(call) {
      const answer = await node.request(call)
      answered.push(call.method)
      return answer
    },
  })
  const chain = defineChain({
    id: chainId,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [local.rpcUrl ?? ''] } },
  })
  wallet = createWalletClient({ account, chain, transport })
  reads = createPublicClient({ chain, transport, pollingInterval: 50 })
})

const mine = () => local.client.mine({ blocks: 1 })

interface Sent {
  value?: bigint
  gwei?: string
  nonce?: number
  data?: `0x${string}`
}

const send = ({ value = 1n, gwei = '20', nonce = 0, data }: Sent = {}): Promise<Hash> =>
  wallet.sendTransaction({
    value,
    nonce,
    gas: 100_000n,
    maxFeePerGas: parseGwei(gwei),
    maxPriorityFeePerGas: parseGwei(gwei),
    ...(data ? { data } : { to: OTHER }),
  })

/**
 * Whoever waits has seen the transaction, and looked for it in the newest block: only then a replacement can be recognised. A block that
 * comes during that look is not looked at.
 */
const isSeen = () =>
  /eth_getTransactionByHash.*eth_getTransactionReceipt.*eth_getBlockByNumber/.test(answered.join(' '))

it('gives the receipt of a transaction that was mined', async () => {
  const hash = await send()
  const waiting = mined(reads, hash, SOON)
  await mine()
  expect(await waiting).toMatchObject({ status: 'success', transactionHash: hash })
})

it('says that a transaction failed, though it is in a block', async () => {
  // Code that begins with INVALID cannot be deployed.
  const hash = await send({ value: 0n, data: '0xfe' })
  await mine()
  await expect(mined(reads, hash, SOON)).rejects.toMatchObject({ why: 'failed' })
})

it('takes the receipt of the same call that was sent again with a higher fee', async () => {
  const hash = await send()
  const waiting = mined(reads, hash, SOON)
  await expect.poll(isSeen).toBe(true)
  const faster = await send({ gwei: '90' })
  await mine()
  expect(await waiting).toMatchObject({ status: 'success', transactionHash: faster })
})

it('does not take a cancellation for success', async () => {
  const hash = await send()
  const waiting = mined(reads, hash, SOON).catch((error) => error)
  await expect.poll(isSeen).toBe(true)
  await send({ gwei: '90', value: 0n })
  await mine()
  expect(await waiting).toMatchObject({ why: 'replaced' })
})

it('tells a transaction that waits from one that is lost', async () => {
  const hash = await send()
  const waiting = await mined(reads, hash, { ...SOON, patienceMs: 300 }).catch((error) => error)
  expect(waiting).toMatchObject({ why: 'waiting' })
  await local.client.dropTransaction({ hash })
  const lost = await mined(reads, hash, { ...SOON, patienceMs: 300 }).catch((error) => error)
  expect(lost).toMatchObject({ why: 'lost' })
})

it('does not wait for a transaction of before that the node does not know', async () => {
  const hash = await send()
  await local.client.dropTransaction({ hash })
  await expect(mined(reads, hash, { isFresh: false })).rejects.toMatchObject({ why: 'lost' })
})
