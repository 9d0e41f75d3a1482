// What the demo shop of account `merchant` sells: the examples and the documents use it.
import { good } from '../good.ts'
import { almanacOf, readYear } from './almanac.ts'
import { daylightAt, readDate, readPlace } from './daylight.ts'
import { readSummaryRequest, summarise } from './summary.ts'

const queryOf = (request: Request) => new URL(request.url).searchParams

export const DEMO = [
  good(
    {
      path: '/daylight',
      name: 'Daylight',
      description: 'When the sun rises and sets in a city, or at a latitude and longitude, on any day.',
      category: 'api',
      price: '0.01',
      commissionBps: 1_000,
      example: '?city=Lisbon',
    },
    async (request, now) => {
      const { name, place } = readPlace(queryOf(request))
      const date = readDate(queryOf(request), now)
      return () => ({ place: name, ...daylightAt(place, date) })
    },
  ),
  good(
    {
      path: '/summary',
      name: 'Summary',
      description: 'The sentences that matter most in an English text. POST {"text": "…", "sentences": 2}.',
      category: 'text',
      price: '0.05',
      commissionBps: 2_000,
      example: '?text=Bees+make+honey.+Honey+keeps+for+years.+The+shop+opens+at+nine.&sentences=2',
    },
    async (request) => {
      const asked = await readSummaryRequest(request)
      return () => summarise(asked)
    },
  ),
  good(
    {
      path: '/almanac',
      name: 'Daylight almanac',
      description: 'The longest and the shortest day, and how the days change, in twelve cities in one year.',
      category: 'reference',
      price: '2.50',
      commissionBps: 3_000,
      oneOff: true,
      example: '?year=2027',
    },
    async (request, now) => {
      const year = readYear(queryOf(request), now)
      return () => almanacOf(year)
    },
  ),
]
