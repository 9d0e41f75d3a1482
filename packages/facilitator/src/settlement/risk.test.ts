import { type Address, type Hash, numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { Refused } from '../payment/refused.ts'
import { type Account, type Accounts, ALL, codeHolder, GAINED, type Holder, payerHolder } from './accounts.ts'
import type { Tried } from './gas.ts'
import type { Order } from './order.ts'
import { back, holdersOf, type Limits } from './risk.ts'

const NOON = Date.UTC(2026, 0, 1, 12, 30)
const limits: Limits = { payerBudget: 30_000n, merchantBudget: 60_000n, burnGasPerHour: 4_000_000n }
const wallet = (number: number): Address => numberToHex(number, { size: 20 })
const CODE: Hash = numberToHex(0xc0de, { size: 32 })

const tried = (payer: Address, { code, ...change }: Partial<Tried> = {}): Tried => ({
  order: {
    kind: 'settle',
    key: { chainId: 1, payer, nonce: '0x' },
    attribution: { merchantId: 1n },
    data: '0x',
  } as unknown as Order,
  gas: 120_000n,
  cost: 9_000n,
  fee: 200n,
  code,
  ...change,
})

/** What becomes of payments, given what is known of some holders. */
function outcomes(payments: Tried[], known: Partial<Record<Holder, Partial<Account>>> = {}): string[] {
  const nothing: Account = { owed: 0n, earned: 0n, atRisk: 0n, burned: 0n }
  const accounts: Accounts = new Map(
    [...holdersOf(payments)].map((holder) => [holder, { ...nothing, ...known[holder] }]),
  )
  return back(limits, accounts, payments, NOON).map((backing) =>
    backing instanceof Refused
      ? backing.message
      : `${backing.backer} ${backing.isShared ? 'shared' : 'alone'}`,
  )
}

const times = (count: number, make: (at: number) => Tried) =>
  Array.from({ length: count }, (_, at) => make(at))

describe('a wallet with code that nobody knows', () => {
  test('pays alone and one at a time, on the budget of all strangers', () => {
    const pay = () => tried(wallet(1), { code: CODE })
    expect(outcomes([pay(), pay()])).toEqual(['all alone', expect.stringMatching(/pay one at a time/)])
  })

  test('has the whole budget of the hour while its code has not failed, and others half of it', () => {
    const used = { [ALL]: { burned: 2_000_000n } }
    expect(outcomes([tried(wallet(1), { code: CODE })], used)).toEqual(['all alone'])
    const failed = { ...used, [codeHolder(CODE)]: { burned: 1n } }
    expect(outcomes([tried(wallet(1), { code: CODE })], failed)).toEqual([
      expect.stringMatching(/contract wallets that are new here failed.* from 2026-01-01T13:00Z/),
    ])
    const full = { [ALL]: { burned: 3_900_000n } }
    expect(outcomes([tried(wallet(1), { code: CODE })], full)[0]).toMatch(/new here failed/)
  })

  test('shares a quarter of it with those of its code, once one of them failed', () => {
    const one = { [codeHolder(CODE)]: { burned: 500_000n } }
    const group = times(4, (at) => tried(wallet(at), { code: CODE }))
    expect(outcomes(group, one)).toEqual([
      'all alone',
      'all alone',
      expect.stringMatching(/wallets with this code/),
      expect.stringMatching(/wallets with this code/),
    ])
  })

  test('is backed by what its code has earned, whatever strangers have burned', () => {
    const known = { [ALL]: { burned: 4_000_000n }, [codeHolder(CODE)]: { earned: 300_000n } }
    expect(
      outcomes(
        times(2, (at) => tried(wallet(at), { code: CODE })),
        known,
      ),
    ).toEqual(['code alone', expect.stringMatching(/new here/)])
  })
})

test('whoever has earned enough shares transactions, as far as that reaches', () => {
  const known = { [payerHolder(wallet(1))]: { earned: 1_100_000n, burned: 5_000_000n } }
  expect(
    outcomes(
      times(3, () => tried(wallet(1), { code: CODE })),
      known,
    ),
  ).toEqual([
    'payer shared',
    'payer shared',
    expect.stringMatching(/failed in its block; it can pay again from 2026-01-01T13:00Z/),
  ])
})

describe('a plain account that nobody knows', () => {
  test('shares transactions, with 64 payments under way at most', () => {
    const cheap = { cost: 1n, fee: 1n }
    const all = outcomes(times(65, () => tried(wallet(1), cheap)))
    expect(all.slice(0, 64)).toEqual(Array(64).fill('payer shared'))
    expect(all[64]).toMatch(/too many payments of this payer are under way/)
  })

  test('pays alone and one at a time in an hour in which others gained code and burned the budget', () => {
    const known = { [codeHolder(GAINED)]: { burned: 4_000_000n } }
    expect(outcomes([tried(wallet(1)), tried(wallet(1)), tried(wallet(2))], known)).toEqual([
      'payer alone',
      expect.stringMatching(/one at a time/),
      'payer alone',
    ])
    expect(outcomes([tried(wallet(1))], { [ALL]: { burned: 9_000_000n } })).toEqual(['payer shared'])
  })
})

describe('a budget', () => {
  test('is used up by what gas costs beyond the fee, for the payer and for the merchant', () => {
    expect(outcomes(times(4, () => tried(wallet(1))))[3]).toMatch(/this payer cost more gas today/)
    expect(outcomes(times(7, (at) => tried(wallet(at))))[6]).toMatch(
      /this merchant .* anew at 2026-01-02T00:00Z/,
    )
  })

  test('does not hold up what pays for its own gas, up to twice of it', () => {
    const paying = tried(wallet(1), { fee: 9_000n })
    const owing = (owed: bigint) => ({ 'merchant:0x0000000000000001': { owed } }) as const
    expect(outcomes([paying], owing(120_000n))).toEqual(['payer shared'])
    expect(outcomes([paying], owing(120_001n))[0]).toMatch(/this merchant/)
  })
})
