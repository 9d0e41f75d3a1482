import type { Address } from 'viem'
import { expect, it } from 'vitest'
import { createVerifier, recordSale } from './sign-in.ts'

/** What a stranger sends in the name of the wallet of this number. */
const junkOf = (wallet: number) => ({
  address: `0x${wallet.toString(16).padStart(40, '0')}` as Address,
  nonce: 'a1b2c3d4',
  until: 0,
  message: 'let me in',
  signature: '0x12' as const,
})

it('asks the node a bounded number of times a minute, for one wallet and for all together', async () => {
  const clock = { now: 1_000_000 }
  let questions = 0
  const client = { verifyMessage: async () => ++questions < 0 }
  const isSigned = createVerifier(client, () => clock.now)

  for (let time = 0; time < 5; time++) expect(await isSigned(junkOf(1))).toBe(false)
  clock.now += 20_500
  expect(await isSigned(junkOf(1))).toEqual({ seconds: 40 })
  // More wallets than are remembered one by one.
  for (let wallet = 2; wallet < 2_000; wallet++) await isSigned(junkOf(wallet))
  expect(questions).toBe(120)
  expect(await isSigned(junkOf(3_000))).toEqual({ seconds: 40 })
  clock.now += 40_000
  expect(await isSigned(junkOf(3_000))).toBe(false)
  expect(questions).toBe(121)
})

it('asks the node a few questions at once', async () => {
  let answer = (_: boolean) => {}
  const answered = new Promise<boolean>((resolve) => {
    answer = resolve
  })
  const isSigned = createVerifier({ verifyMessage: () => answered }, () => 0)
  const verdicts = Array.from({ length: 6 }, (_, wallet) => isSigned(junkOf(wallet)))
  expect(await Promise.race(verdicts)).toEqual({ seconds: 1 })
  answer(true)
  expect((await Promise.all(verdicts)).filter((verdict) => verdict === true)).toHaveLength(4)
})

it('keeps the dearer purchase, also while the storage does not answer, and replaces what cannot be read', async () => {
  let kept = JSON.stringify({ transaction: '0x01', amount: '20' })
  let isAway = true
  const storage = {
    async find() {
      if (isAway) throw new Error('away')
      return kept
    },
    async record(_: string, value: string) {
      kept = value
    },
  }
  const bought = {
    network: 'eip155:31337',
    merchantId: 1n,
    productId: undefined,
    payer: '0x',
    resource: 'http://shop.test/',
  }
  const sale = (amount: bigint) =>
    recordSale({ storage } as never, bought, { transaction: '0x02', amount } as never)
  await expect(sale(10n)).rejects.toThrow('away')
  isAway = false
  await sale(10n)
  expect(JSON.parse(kept).amount).toBe('20')
  await sale(30n)
  expect(JSON.parse(kept).amount).toBe('30')
  kept = 'garbage'
  await sale(10n)
  expect(JSON.parse(kept).amount).toBe('10')
})
