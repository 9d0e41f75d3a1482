import { splitRouterAbi } from '@referrer/protocol/abi'
import { type Address, encodeFunctionData, zeroHash } from 'viem'
import { expect, it } from 'vitest'
import { contractCallOf, takeBackIn } from './take-back.ts'

const router: Address = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const payer: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const stranger: Address = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

const deposit = (from: Address) =>
  encodeFunctionData({
    abi: splitRouterAbi,
    functionName: 'takeBackDeposit',
    args: [
      { txHash: zeroHash, payer: from, value: 7n, tokenHash: zeroHash, signature: '0x12' },
      0n,
      0n,
      '0x34',
    ],
  })

it('takes of a refusal the call that it carries, and nothing that is none', () => {
  const call = { to: router, data: deposit(payer), not_before: 5 }
  expect(takeBackIn({ success: false, take_back: call })).toEqual(call)
  // A shop may leave the time out.
  expect(takeBackIn({ take_back: { to: router, data: '0x12' } })).toMatchObject({ not_before: 0 })
  for (const answer of [null, 7, {}, { take_back: 'x' }, { take_back: { ...call, data: 'x' } }]) {
    expect(takeBackIn(answer)).toBeUndefined()
  }
})

it('has the wallet send the call to the market’s own router only, for its own money', () => {
  const call = { to: router.toLowerCase(), data: deposit(payer), not_before: 0 }
  expect(contractCallOf(call, { router, payer })).toMatchObject({
    amount: 7n,
    call: { address: router, functionName: 'takeBackDeposit' },
  })
  const pause = encodeFunctionData({ abi: splitRouterAbi, functionName: 'chargeNonce', args: [zeroHash] })
  for (const wrong of [{ to: stranger }, { data: deposit(stranger) }, { data: pause }, { data: '0x1234' }]) {
    expect(contractCallOf({ ...call, ...wrong }, { router, payer })).toBeUndefined()
  }
})
