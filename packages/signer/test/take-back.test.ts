// Plain transfers to the router that pay for nothing: the wallet that made them gets them back.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { confirmed } from '@referrer/contracts/local'
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import { getAddress, type Hash } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startSigner, type TestSigner } from './signer.ts'
import { PRICE, startWorld, type Wallet, type World } from './world.ts'

const WRONG = PRICE - 1n

let w: World
let signer: TestSigner
beforeAll(async () => {
  w = await startWorld(7)
  signer = await startSigner(w.env)
})
afterAll(async () => {
  await signer?.close()
  await w?.close()
})

interface Sent {
  wallet: Wallet
  input: { tx_hash: Hash; ref_link: string; agent_id: string }
}

/** A transfer to the router, and what the tool is asked for it. */
async function transfer(value: bigint, merchantEndpoint = w.m.shop.url): Promise<Sent> {
  const wallet = w.next()
  const tx_hash = await w.m.chain.client.writeContract({
    account: wallet.account,
    address: w.m.till.usdc,
    abi: sandboxUSDCAbi,
    functionName: 'transfer',
    args: [w.m.till.router, value],
  })
  await confirmed(w.m.market, tx_hash)
  return {
    wallet,
    input: { tx_hash, ref_link: await w.link({ merchantEndpoint }), agent_id: wallet.agentId },
  }
}

/** What the facilitator answers about it. */
async function charged({ wallet, input: { tx_hash: txHash, ref_link, agent_id: buyerAgentId } }: Sent) {
  const attributionToken = ref_link.split('/').at(-1)
  const body = { txHash, attributionToken, buyerAgentId, chainId: w.m.chainId }
  const { signature } = await signer.must('sign_charge_commitment', {
    ...body,
    splitRouterAddr: w.m.till.router,
  })
  const answer = await w.m.call('POST', '/mpp/charge', { body: { ...body, buyerSignature: signature } })
  expect(answer.body.take_back, wallet.agentId).toMatchObject({ to: w.m.till.router })
  return answer.body
}

it('a wrong transfer comes back, by a transaction of the wallet that made it, once', async () => {
  const { wallet, input } = await transfer(WRONG)
  expect(await w.spent(wallet)).toBe(WRONG)
  const taken = await signer.must('take_back_payment', input)
  expect(taken).toEqual({ tx_hash: expect.stringMatching(/^0x/), amount: Number(WRONG) })
  const { from, to, status } = await w.m.chain.client.getTransactionReceipt({ hash: taken.tx_hash })
  expect([getAddress(from), getAddress(to ?? '0x'), status]).toEqual([
    wallet.account.address,
    w.m.till.router,
    'success',
  ])
  expect(await w.spent(wallet)).toBe(0n)
  expect(await signer.refusal('take_back_payment', input)).toMatch(
    /^nothing can be taken back: the facilitator says "the payment went back to its payer/,
  )
})

it('a right transfer is charged, and does not come back', async () => {
  const { wallet, input } = await transfer(PRICE)
  expect(await signer.refusal('take_back_payment', input)).toMatch(
    /^not taken back: the transfer pays for the product of the link, transaction 0x/,
  )
  expect(await w.spent(wallet)).toBe(PRICE)
})

it('a transfer whose price nobody tells comes back from the time on that is named, not before', async () => {
  // Nothing listens there.
  const { wallet, input } = await transfer(PRICE, 'http://127.0.0.1:9/buy')
  expect(await signer.refusal('take_back_payment', input)).toMatch(
    /^too early: the transfer can be taken back from 20\d\d-\d\d-\d\dT[\d:]+Z on, /,
  )
  expect(await w.spent(wallet)).toBe(PRICE)
  await w.m.chain.client.increaseTime({ seconds: 3_601 })
  await w.m.chain.client.mine({ blocks: 1 })
  expect(await signer.must('take_back_payment', input)).toMatchObject({ amount: Number(PRICE) })
  expect(await w.spent(wallet)).toBe(0n)
})

it('nothing is sent on the word of a facilitator that hands out another call', async () => {
  const [mine, other] = [await transfer(WRONG), await transfer(WRONG)]
  const [honest, theirs] = [await charged(mine), await charged(other)]
  const lies: [object, RegExp][] = [
    [{ to: w.m.till.usdc }, /is no takeBackDeposit of the split router/],
    [{ data: '0x12345678' }, /is no takeBackDeposit of the split router/],
    [{ data: 'transfer' }, /is no takeBackDeposit of the split router/],
    [{ data: theirs.take_back.data }, /is of the payer 0x/],
  ]
  let told: object = {}
  const server = createServer((_request, response) => void response.end(JSON.stringify(told)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const liedTo = await startSigner({ ...w.env, FACILITATOR_URL: url })
  const { address } = mine.wallet.account
  const before = await w.m.chain.client.getTransactionCount({ address })
  for (const [lie, why] of lies) {
    told = { ...honest, take_back: { ...honest.take_back, ...lie } }
    const said = await liedTo.refusal('take_back_payment', mine.input)
    expect(said).toMatch(why)
    expect(said).toContain('nothing was sent')
  }
  expect(await w.m.chain.client.getTransactionCount({ address })).toBe(before)
  told = honest
  await liedTo.must('take_back_payment', mine.input)
  expect(await w.spent(mine.wallet)).toBe(0n)
  await liedTo.close()
  server.close()
})
