import { type Hex, keccak256, stringToHex } from 'viem'
import { type Ask, readAsk } from './ask.ts'

/** What one can buy at a path of the shops' server. */
export interface Good {
  path: string
  productId: Hex
  name: string
  description: string
  category: string
  /** In USDC. */
  price: string
  commissionBps: number
  /** Bought once, not again and again. */
  oneOff: boolean
  /** A query that works, for the shop's page. */
  example: string
  /** Checks a request before it is paid; throws a `RequestError` when it cannot be answered. The function that it returns makes the answer. */
  prepare(request: Request, now: number): Promise<() => object>
}

export type About = Omit<Good, 'productId' | 'oneOff' | 'prepare'> & { oneOff?: boolean }

export const good = (about: About, prepare: Good['prepare']): Good => ({
  oneOff: false,
  ...about,
  productId: keccak256(stringToHex(`demo-shop${about.path}`)),
  prepare,
})

/** One that is quick to compute: a request that has an answer can be answered. */
export const computed = (about: About, answer: (ask: Ask, now: number) => object): Good =>
  good(about, async (request, now) => {
    const answered = answer(await readAsk(request), now)
    return () => answered
  })
