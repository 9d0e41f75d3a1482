// Two chains at once, with the same contracts at the same addresses, the same ids and the same accounts: whoever mixes them up pays or
// reads the wrong one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connectShop, openShop, placeOf, readProject } from '@referrer/merchant/shop'
import { Money, X402 } from '@referrer/protocol'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectTools, type Tools } from '../examples/tools.ts'
import { linkTo, resolve, reviewsOf } from './links.ts'
import { ask, buy, buyAndCheck, chainOf, usdcOf } from './purchase.ts'
import { PATIENCE_MS, run, startTestSandbox, type TestSandbox, until } from './sandbox.ts'

const PRICE = Money.parse('0.01')
const QUERY = '?lat=52.52&lng=13.4&date=2026-03-20'

let first: TestSandbox
let second: TestSandbox

beforeAll(async () => {
  first = await startTestSandbox('small', 2)
  const { secondChain, ...state } = first.state
  if (!secondChain) throw new Error('the sandbox has one chain')
  second = {
    ...first,
    state: { ...state, ...secondChain },
    account(role) {
      const found = secondChain.accounts.find((entry) => entry.role === role)
      if (!found) throw new Error(`no account plays ${role}`)
      return found
    },
  }
}, PATIENCE_MS)
afterAll(() => first?.end())

const escrowsOn = (sandbox: TestSandbox) =>
  chainOf(sandbox).readContract({
    address: sandbox.state.contracts.CommissionEscrow,
    abi: commissionEscrowAbi,
    functionName: 'lastEscrowId',
  })

/** The money of everybody, and what is in escrow. */
const booksOf = async (sandbox: TestSandbox) => {
  const { accounts, contracts } = sandbox.state
  const holders = [
    ...accounts.map(({ address }) => address),
    contracts.SplitRouter,
    contracts.CommissionEscrow,
  ]
  return [...(await Promise.all(holders.map((holder) => usdcOf(sandbox, holder)))), await escrowsOn(sandbox)]
}

const escrowsOf = async (sandbox: TestSandbox, agentId: number | undefined) => {
  const path = `/v1/agent/${agentId}/escrows?chain_id=${sandbox.state.chainId}`
  return (await ask<{ escrows: { escrow_id: number }[] }>(sandbox, 'stranger', path)).escrows
}

describe('a sandbox of two chains', () => {
  it('is one market on both, with the same addresses and a key of its own for the links of each', async () => {
    expect(first.state.chainId).not.toBe(second.state.chainId)
    expect(second.state.contracts).toEqual(first.state.contracts)
    const { chains } = await (await fetch(`${first.state.baseUrl}/.well-known/referrer-agent`)).json()
    expect(chains).toMatchObject(
      [first, second].map(({ state: { chainId, attestationPubKey } }) => ({ chainId, attestationPubKey })),
    )
    expect(first.state.attestationPubKey).not.toBe(second.state.attestationPubKey)
    const { kinds } = await (await fetch(`${first.state.facilitatorUrl}/supported`)).json()
    expect(kinds.map(({ network }: { network: string }) => network)).toEqual(
      [first, second].map(({ state: { chainId } }) => `eip155:${chainId}`),
    )
  })

  it('sells on each of them, and the other one does not notice', { timeout: PATIENCE_MS }, async () => {
    for (const [here, there] of [
      [first, second],
      [second, first],
    ] as const) {
      const [before, escrowsBefore] = [
        await booksOf(there),
        await escrowsOf(there, there.account('buyer').agentId),
      ]
      const link = await linkTo(here, '/daylight')
      expect(await resolve(link)).toMatchObject({ chain_id: here.state.chainId })
      const { escrowId } = await buyAndCheck(here, { role: 'buyer', link, query: QUERY }, PRICE)
      expect(await booksOf(there)).toEqual(before)
      const { agentId } = here.account('buyer')
      await until(
        async () => (await escrowsOf(here, agentId)).some(({ escrow_id }) => escrow_id === escrowId),
        first,
      )
      expect(await escrowsOf(there, there.account('buyer').agentId)).toEqual(escrowsBefore)
    }
    // The same agent, merchant and product ids, and the same escrow id: each is of its own chain.
    const [one, other] = await Promise.all(
      [first, second].map((sandbox) => escrowsOf(sandbox, sandbox.account('buyer').agentId)),
    )
    expect(one?.map(({ escrow_id }) => escrow_id)).toEqual([1])
    expect(other?.map(({ escrow_id }) => escrow_id)).toEqual([1])
  })

  it('lists on each the reviews of its own, whose links carry its own endpoint', async () => {
    for (const sandbox of [first, second]) {
      const reviews = await reviewsOf(sandbox)
      expect(reviews).toHaveLength(5)
      for (const { ref_link } of reviews) {
        const { merchant_endpoint, chain_id } = await resolve(ref_link)
        expect(new URL(merchant_endpoint).origin).toBe(sandbox.state.shopUrl)
        expect(chain_id).toBe(sandbox.state.chainId)
      }
    }
  })
})

describe('the commands of a merchant', () => {
  it('open a shop on the second chain, and on that one alone', { timeout: PATIENCE_MS }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'referrer-chains-'))
    try {
      const reporter = { step() {}, during: <T>(_: string, work: Promise<T>) => work }
      const { baseUrl, rpcUrl } = second.state
      const place = placeOf(readProject(directory), { network: 'sandbox-2', market: baseUrl, rpc: rpcUrl })
      const owner = privateKeyToAccount(generatePrivateKey())
      // The owner has nothing yet: the faucet gives gas on this chain, too.
      const { merchantId } = await openShop(await connectShop(place, { directory, owner, reporter }))
      const merchantOn = async ({ state }: TestSandbox) => {
        const answer = await fetch(`${baseUrl}/v1/merchant/${merchantId}?chain_id=${state.chainId}`)
        return { ...(await answer.json()), status: answer.status }
      }
      // Shown once its block is read.
      await until(async () => (await merchantOn(second)).status === 200, first)
      expect((await merchantOn(second)).owner_address).toBe(owner.address)
      expect(await merchantOn(first)).toMatchObject({ status: 404 })
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})

describe('what belongs to one chain is refused on the other', () => {
  it('a link: the shop of the second chain sells through none of the first', async () => {
    const { token } = await resolve(await linkTo(first, '/daylight'))
    const { merchant_endpoint } = await resolve(await linkTo(second, '/daylight'))
    const before = [await booksOf(first), await booksOf(second)]
    // A link to this endpoint that carries the token of the other chain.
    const mixed = `data:application/json,${encodeURIComponent(JSON.stringify({ merchant_endpoint, token }))}`
    const { response, body } = await buy(second, { role: 'walletBuyer', link: mixed, query: QUERY })
    expect([response.status, body.errorMessage]).toEqual([
      402,
      expect.stringContaining(String(first.state.chainId)),
    ])
    expect([await booksOf(first), await booksOf(second)]).toEqual(before)
  })

  it('a payment: as it is, and with the network written over', { timeout: PATIENCE_MS }, async () => {
    const { signature } = await buy(first, {
      role: 'walletBuyer',
      link: await linkTo(first, '/daylight'),
      query: QUERY,
    })
    const { merchant_endpoint, token } = await resolve(await linkTo(second, '/daylight'))
    const payload = JSON.parse(Buffer.from(signature, 'base64').toString())
    const network = `eip155:${second.state.chainId}`
    const rewritten = {
      ...payload,
      accepted: { ...payload.accepted, network },
      extensions: { ...payload.extensions, attributionToken: token },
    }
    const before = [await booksOf(first), await booksOf(second)]
    for (const payment of [signature, X402.encodeHeader(rewritten, 'standard')]) {
      const response = await fetch(`${merchant_endpoint}${QUERY}`, {
        headers: { 'PAYMENT-SIGNATURE': payment, 'X-Referrer-Token': token },
      })
      expect(response.status).toBe(402)
      expect(await response.json()).toMatchObject({ errorReason: expect.any(String) })
    }
    expect([await booksOf(first), await booksOf(second)]).toEqual(before)
  })

  it('the link of a signer: that of the second chain buys there and nowhere else', {
    timeout: PATIENCE_MS,
  }, async () => {
    const tools: Tools = await connectTools(first.directory, 'referrer-signer-2')
    try {
      const [here, there] = [await linkTo(second, '/daylight'), await linkTo(first, '/daylight')]
      const before = await booksOf(first)
      const order = { agent_id: String(second.account('buyer').agentId), max_amount: String(PRICE) }
      const { escrow_id } = await tools.signer('pay_for_product', { ...order, ref_link: here })
      expect(escrow_id).toBe(Number(await escrowsOn(second)))
      await expect(tools.signer('pay_for_product', { ...order, ref_link: there })).rejects.toThrow(
        String(first.state.chainId),
      )
      expect(await booksOf(first)).toEqual(before)
    } finally {
      await tools.close()
    }
  })
})

describe('whoever follows the documents', () => {
  it('buys on the second chain with the example, by a link of that chain', {
    timeout: PATIENCE_MS,
  }, async () => {
    const [before, escrows] = [await booksOf(first), await escrowsOn(second)]
    const file = fileURLToPath(new URL('../examples/buy.ts', import.meta.url))
    const link = await linkTo(second, '/daylight')
    const { output, ended } = run(file, { SANDBOX_DIR: first.directory }, [link, QUERY])
    expect([(await ended)[0], output.text]).toEqual([0, expect.stringContaining('router → merchant')])
    expect(await escrowsOn(second)).toBe(escrows + 1)
    expect(await booksOf(first)).toEqual(before)
  })

  it('buys every product of the x402 catalogue by calling it as the catalogue says', {
    timeout: PATIENCE_MS,
  }, async () => {
    for (const sandbox of [first, second]) {
      const { baseUrl, chainId, products } = sandbox.state
      let items: Listed[] = []
      // Once each endpoint was asked for its offer. A client may ask five times a second: the others are refused.
      await until(async () => {
        const answer = await fetch(`${baseUrl}/discovery/resources?network=eip155:${chainId}`)
        if (answer.ok) ({ items } = await answer.json())
        return items.length >= products.length && items.every(({ accepts }) => accepts.length > 0)
      }, first)
      expect(items).toHaveLength(products.length)
      for (const { extensions, metadata } of items) {
        const { method, queryParams } = extensions.bazaar.info.input
        const query = `?${new URLSearchParams(queryParams)}`
        const { refLink: link } = metadata.referrer
        const { response } = await buy(sandbox, { role: 'walletBuyer', link, query, init: { method } })
        expect([query, response.status]).toEqual([query, 200])
      }
    }
  })
})

interface Listed {
  accepts: object[]
  extensions: { bazaar: { info: { input: { method: string; queryParams: Record<string, string> } } } }
  metadata: { referrer: { refLink: string } }
}
