// What the demo shop sells.
import { type Hex, keccak256, stringToHex } from 'viem'
import { almanacOf, readYear } from './almanac.ts'
import { daylightAt, readDate, readPlace } from './daylight.ts'
import { readSummaryRequest, summarise } from './summary.ts'

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

const productIdOf = (path: string): Hex => keccak256(stringToHex(`demo-shop${path}`))
const queryOf = (request: Request) => new URL(request.url).searchParams

export const GOODS: readonly Good[] = [
  {
    path: '/daylight',
    productId: productIdOf('/daylight'),
    name: 'Daylight',
    description: 'When the sun rises and sets in a city, or at a latitude and longitude, on any day.',
    category: 'api',
    price: '0.01',
    commissionBps: 1_000,
    oneOff: false,
    example: '?city=Lisbon',
    async prepare(request, now) {
      const { name, place } = readPlace(queryOf(request))
      const date = readDate(queryOf(request), now)
      return () => ({ place: name, ...daylightAt(place, date) })
    },
  },
  {
    path: '/summary',
    productId: productIdOf('/summary'),
    name: 'Summary',
    description: 'The sentences that matter most in an English text. POST {"text": "…", "sentences": 2}.',
    category: 'text',
    price: '0.05',
    commissionBps: 2_000,
    oneOff: false,
    example: '?text=Bees+make+honey.+Honey+keeps+for+years.+The+shop+opens+at+nine.&sentences=2',
    async prepare(request) {
      const asked = await readSummaryRequest(request)
      return () => summarise(asked)
    },
  },
  {
    path: '/almanac',
    productId: productIdOf('/almanac'),
    name: 'Daylight almanac',
    description: 'The longest and the shortest day, and how the days change, in twelve cities in one year.',
    category: 'reference',
    price: '2.50',
    commissionBps: 3_000,
    oneOff: true,
    example: '?year=2027',
    async prepare(request, now) {
      const year = readYear(queryOf(request), now)
      return () => almanacOf(year)
    },
  },
]
