// Ledger: sums of money, and numbers that can be checked.
import { computed } from '../good.ts'
import { RequestError } from '../request-error.ts'

const DAY_MS = 86_400_000
const cents = (value: number) => Number(value.toFixed(2))
/** How long an IBAN is there. */
const IBAN_LENGTHS: Readonly<Record<string, number>> = {
  AT: 20,
  BE: 16,
  CH: 21,
  DE: 22,
  ES: 24,
  FR: 27,
  GB: 22,
  IE: 22,
  IT: 27,
  NL: 18,
  PL: 28,
  PT: 25,
}

export const FINANCE = [
  computed(
    {
      path: '/ledger/loan',
      name: 'Loan payments',
      description: 'What a loan costs a month and in all, from its amount, yearly rate and number of months.',
      category: 'finance',
      price: '0.04',
      commissionBps: 2_000,
      example: '?amount=200000&rate=3.5&months=240',
    },
    (ask) => {
      const amount = ask.number('amount', { from: 1, to: 1e9 })
      const monthly = ask.number('rate', { from: 0, to: 100 }) / 1_200
      const months = ask.whole('months', { from: 1, to: 600 })
      const payment = monthly === 0 ? amount / months : (amount * monthly) / (1 - (1 + monthly) ** -months)
      return {
        monthly_payment: cents(payment),
        total: cents(payment * months),
        interest: cents(payment * months - amount),
      }
    },
  ),
  computed(
    {
      path: '/ledger/compound',
      name: 'Compound interest',
      description: 'What savings grow to at a yearly rate, with what is added every month.',
      category: 'finance',
      price: '0.03',
      commissionBps: 2_000,
      example: '?amount=1000&rate=5&years=10&monthly=50',
    },
    (ask) => {
      const rate = ask.number('rate', { from: 0, to: 100 }) / 1_200
      const months = ask.whole('years', { from: 1, to: 100 }) * 12
      const [amount, monthly] = [
        ask.number('amount', { from: 0, to: 1e9 }),
        ask.number('monthly', { from: 0, to: 1e6, fallback: 0 }),
      ]
      let balance = amount
      for (let month = 0; month < months; month++) balance = balance * (1 + rate) + monthly
      const paid_in = cents(amount + monthly * months)
      return { balance: cents(balance), paid_in, interest: cents(balance - paid_in) }
    },
  ),
  computed(
    {
      path: '/ledger/iban',
      name: 'IBAN check',
      description: 'Whether an IBAN of twelve European countries has the right length and check digits.',
      category: 'finance',
      price: '0.02',
      commissionBps: 1_500,
      example: '?iban=DE89370400440532013000',
    },
    (ask) => {
      const iban = ask.text('iban').replace(/\s/g, '').toUpperCase()
      const country = iban.slice(0, 2)
      const length = IBAN_LENGTHS[country]
      if (!length) return { valid: false, reason: `country ${country} is not known` }
      if (iban.length !== length)
        return { valid: false, reason: `an IBAN of ${country} has ${length} characters` }
      const digits = (iban.slice(4) + iban.slice(0, 4)).replace(/[A-Z]/g, (letter) =>
        String(parseInt(letter, 36)),
      )
      if (!/^\d+$/.test(digits)) return { valid: false, reason: 'an IBAN has letters and digits only' }
      const valid = BigInt(digits) % 97n === 1n
      return valid ? { valid, country } : { valid, reason: 'the check digits are wrong' }
    },
  ),
  computed(
    {
      path: '/ledger/nif',
      name: 'Portuguese tax number',
      description: 'Whether a Portuguese tax number (NIF) has the right check digit.',
      category: 'finance',
      price: '0.02',
      commissionBps: 1_500,
      example: '?nif=123456789',
    },
    (ask) => {
      const nif = ask.text('nif').replace(/^PT|\s/gi, '')
      if (!/^\d{9}$/.test(nif)) throw new RequestError('nif must have nine digits')
      const sum = [...nif.slice(0, 8)].reduce((total, digit, at) => total + Number(digit) * (9 - at), 0)
      const check = sum % 11 < 2 ? 0 : 11 - (sum % 11)
      return { nif, valid: check === Number(nif[8]) }
    },
  ),
  computed(
    {
      path: '/ledger/card',
      name: 'Card number check',
      description: 'Whether a card number passes the Luhn check, and which network it belongs to.',
      category: 'finance',
      price: '0.02',
      commissionBps: 1_000,
      example: '?number=4111111111111111',
    },
    (ask) => {
      const number = ask.text('number').replace(/[\s-]/g, '')
      if (!/^\d{12,19}$/.test(number)) throw new RequestError('number must have 12 to 19 digits')
      const sum = [...number].reverse().reduce((total, digit, at) => {
        const value = Number(digit) * (1 + (at % 2))
        return total + (value > 9 ? value - 9 : value)
      }, 0)
      const network = /^4/.test(number)
        ? 'Visa'
        : /^5[1-5]/.test(number)
          ? 'Mastercard'
          : /^3[47]/.test(number)
            ? 'American Express'
            : 'other'
      return { valid: sum % 10 === 0, network }
    },
  ),
  computed(
    {
      path: '/ledger/daycount',
      name: 'Day count',
      description: 'Days and year fractions between two dates by actual/365, actual/360 and 30/360.',
      category: 'finance',
      price: '0.03',
      commissionBps: 1_500,
      example: '?from=2026-01-31&to=2026-07-31',
    },
    (ask, now) => {
      const [from, to] = [ask.date('from', now), ask.date('to', now)]
      if (to < from) throw new RequestError('to must not be before from')
      const days = (Date.parse(to) - Date.parse(from)) / DAY_MS
      const months = (date: string) => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7))
      const dayOf = (date: string) => Math.min(Number(date.slice(8)), 30)
      const bondDays = (months(to) - months(from)) * 30 + dayOf(to) - dayOf(from)
      const fraction = (count: number, year: number) => Number((count / year).toFixed(6))
      return {
        days,
        act_365: fraction(days, 365),
        act_360: fraction(days, 360),
        thirty_360: fraction(bondDays, 360),
      }
    },
  ),
]
