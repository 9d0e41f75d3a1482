import { registerIdentity } from '@referrer/contracts/local'
import { keccak256, stringToBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call } from '../calls.ts'
import { send, transfer } from './chain.ts'
import { startTestMarket, type TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'

const SIGNER = keccak256(stringToBytes('SETTLEMENT_SIGNER_ROLE'))
const OTHER = keccak256(stringToBytes('SOME_OTHER_ROLE'))

let m: TestMarket
beforeAll(async () => {
  m = await startTestMarket()
})
afterAll(() => m.close())

async function signersOf(merchantId: bigint | number) {
  await m.indexed()
  return m.call('GET', `/v1/merchant/${merchantId}/signers`)
}

describe('the signers of a merchant', () => {
  it('are the keys that its owner granted and did not revoke', async () => {
    const { merchant, buyer, reviewer, stranger } = m.market.accounts
    const merchantId = await openRecorded(m)
    const role = (name: 'grantRole' | 'revokeRole', of: `0x${string}`, account: `0x${string}`) =>
      send(m, call(m, merchant, 'MerchantRegistry', name, [merchantId, of, account]))
    expect(await signersOf(merchantId)).toMatchObject({ status: 200, body: { signers: [] } })
    await role('grantRole', SIGNER, buyer.address)
    await role('grantRole', SIGNER, reviewer.address)
    await role('grantRole', OTHER, stranger.address)
    const { body } = await signersOf(merchantId)
    expect(new Set(body.signers)).toEqual(new Set([buyer.address, reviewer.address]))
    await role('revokeRole', SIGNER, buyer.address)
    expect((await signersOf(merchantId)).body).toEqual({ signers: [reviewer.address] })
  })

  it('are void once the identity has another owner', async () => {
    const { merchant, buyer, stranger } = m.market.accounts
    const merchantId = await openRecorded(m)
    await send(m, call(m, merchant, 'MerchantRegistry', 'grantRole', [merchantId, SIGNER, buyer.address]))
    expect((await signersOf(merchantId)).body.signers).toEqual([buyer.address])
    await transfer(m, merchant, stranger.address, merchantId)
    expect((await signersOf(merchantId)).body.signers).toEqual([])
  })

  it('of an identity without a shop are none', async () => {
    const agentId = await registerIdentity(m.market, m.market.accounts.reviewer)
    expect((await signersOf(agentId)).body).toEqual({ signers: [] })
  })
})
