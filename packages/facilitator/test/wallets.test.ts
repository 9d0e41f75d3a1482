// Contract wallets, and plain wallets whose signatures come in other forms, as the real token judges them.
import { mintUsdc } from '@referrer/contracts/local'
import { type Hex, type LocalAccount, numberToHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PRICE, startTestFacilitator, type TestFacilitator } from './harness.ts'
import type { PayloadOptions } from './payloads.ts'

let m: TestFacilitator
beforeAll(async () => {
  m = await startTestFacilitator({ buyers: 1 })
})
afterAll(() => m.close())

/** `isValidSignature` of a contract that answers this to every question. */
const answering = (selector: string): Hex => `0x63${selector}60e01b60005260206000f3`
const VALID = answering('1626ba7e')
const INVALID = answering('ffffffff')
const SIGNATURE: Hex = `0x${'ab'.repeat(200)}`

/** A wallet with code and money. Its key is made up: what it signs is replaced. */
async function wallet(bytecode: Hex): Promise<LocalAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  await m.chain.client.setCode({ address: account.address, bytecode })
  await mintUsdc(m.market, account.address, 10n * PRICE)
  return account
}

async function settle(payer: LocalAccount, signature: Hex | undefined, options?: PayloadOptions) {
  const body = await m.payload(payer, options)
  if (signature) body.paymentPayload.payload.signature = signature
  return (await m.settle(body)).body
}

describe('a contract wallet', () => {
  test('pays with whatever its contract takes for a signature, either way', async () => {
    const payer = await wallet(VALID)
    for (const salt of [undefined, numberToHex(1, { size: 32 })]) {
      const before = await m.balanceOf(payer.address)
      const answer = await settle(payer, SIGNATURE, salt ? { salt } : {})
      expect(answer).toMatchObject({ success: true, payer: payer.address })
      const [escrow] = await m.escrowsIn(answer.transaction)
      expect(escrow).toMatchObject({ payer: payer.address, price: PRICE })
      expect(before - (await m.balanceOf(payer.address))).toBe(PRICE)
    }
  })

  test('does not pay with what its contract refuses', async () => {
    const payer = await wallet(INVALID)
    expect(await settle(payer, SIGNATURE)).toMatchObject({ success: false, transaction: '' })
    expect(await m.balanceOf(payer.address)).toBe(10n * PRICE)
  })
})

test('a plain wallet pays with a signature whose v is 0 or 1, which the token itself would refuse', async () => {
  const [payer] = m.buyers
  if (!payer) throw new Error('the test has a buyer')
  const nonce = numberToHex(7, { size: 32 })
  const { paymentPayload } = await m.payload(payer, { nonce, validBefore: 4_000_000_000n })
  const { signature } = paymentPayload.payload
  const v = signature.endsWith('1b') ? '00' : '01'
  const answer = await settle(payer, `${signature.slice(0, -2) as Hex}${v}`, {
    nonce,
    validBefore: 4_000_000_000n,
  })
  expect(answer.success).toBe(true)
})
