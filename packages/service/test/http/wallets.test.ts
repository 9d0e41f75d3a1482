// Different wallets sign the same commitment: each recovers to the same signer, and the service accepts it.
import { privateKeyOf } from '@referrer/contracts/local'
import { Commitment } from '@referrer/protocol'
import { Wallet } from 'ethers'
import type { Hex, LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { vectors } from '../../../protocol/test/commitments.ts'
import { must } from './caller.ts'
import { CASHBACK_RATE, pledgeBody } from './commitments.ts'
import { newAgent, startTestMarket, type TestMarket } from './market.ts'

let m: TestMarket
let owner: TestMarket['market']['accounts']['reviewer']
let agentId: bigint

beforeAll(async () => {
  m = await startTestMarket()
  owner = m.market.accounts.reviewer
  agentId = await newAgent(m, owner)
})
afterAll(() => m.close())

/** Each gets only the JSON as received over HTTP. */
const wallets: Record<string, (json: string) => Promise<string>> = {
  viem: (json) => (owner as LocalAccount).signTypedData(JSON.parse(json)),
  ethers(json) {
    const { domain, types, message } = Commitment.forEthers(Commitment.parse(JSON.parse(json)))
    return new Wallet(privateKeyOf(owner)).signTypedData(domain, types, message)
  },
  /**
   * The node of the test chain holds the keys of its accounts, as a browser wallet does, and hashes typed data
   * itself.
   */
  async 'a bare EIP-1193 wallet'(json) {
    const request = { method: 'eth_signTypedData_v4', params: [owner.address, json] }
    return (await m.market.client.request(request as never)) as Hex
  },
}

describe.each(Object.keys(wallets))('%s', (name) => {
  const sign = (commitment: object) => wallets[name]?.(JSON.stringify(commitment))

  it.each(vectors.map(({ commitment }) => ({ kind: commitment.primaryType, commitment })))(
    'signs a $kind [AUTH-22]',
    async ({ commitment }) => {
      // Browser wallets sign only for the chain that they are connected to.
      const here = {
        ...commitment,
        domain: { ...commitment.domain, chainId: m.chainId },
      } as Commitment.Commitment
      const signature = await sign(here)
      expect(await Commitment.recover(here, signature)).toBe(owner.address)
    },
  )

  it('sets a cashback rate', async () => {
    const body = pledgeBody({ agentId, bps: 100 + name.length })
    const path = `${CASHBACK_RATE}/step`
    const { commitment, nonce, expiry } = await must(m.call('POST', `${path}1`, { as: owner, body }))
    const signed = { ...body, nonce, expiry, agent_sig: await sign(commitment) }
    expect(await m.call('POST', `${path}2`, { as: owner, body: signed })).toMatchObject({ status: 200 })
    const context = await must(m.call('GET', `/v1/agent/${agentId}/context`, { as: owner }))
    expect(context.global_cashback_of_commission_bps).toBe(100 + name.length)
  })
})
