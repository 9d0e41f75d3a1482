import { RequestError } from '../request-error.ts'
import { CITIES, type Daylight, daylightAt, type Place, sunAt } from './daylight.ts'

export interface Almanac {
  title: string
  cities: {
    city: string
    longest_day: Daylight
    shortest_day: Daylight
    /** On the fifteenth of each month. */
    daylight_minutes: number[]
  }[]
}

const FIRST_YEAR = 1950
const LAST_YEAR = 2100

/** The daylight of a whole year in every city that the shop knows. */
export function almanacOf(year: number): Almanac {
  const days = daysOf(year)
  const cities = Object.entries(CITIES).map(([city, place]) => ({
    city,
    longest_day: daylightAt(place, extreme(days, place, 1)),
    shortest_day: daylightAt(place, extreme(days, place, -1)),
    daylight_minutes: days
      .filter((date) => date.endsWith('-15'))
      .map((date) => daylightAt(place, date).daylight_minutes),
  }))
  return { title: `Daylight in ${year}`, cities }
}

/** The first of the longest days, or of the shortest. */
function extreme(days: string[], place: Place, sign: 1 | -1): string {
  const lengthOf = (date: string) => sign * sunAt(place, date).halfDay
  return days.reduce((found, date) => (lengthOf(date) > lengthOf(found) ? date : found))
}

function daysOf(year: number): string[] {
  const days: string[] = []
  for (const day = new Date(Date.UTC(year, 0, 1)); day.getUTCFullYear() === year; ) {
    days.push(day.toISOString().slice(0, 10))
    day.setUTCDate(day.getUTCDate() + 1)
  }
  return days
}

/** Left out: this year. */
export function readYear(query: URLSearchParams, now: number): number {
  const year = Number(query.get('year') ?? new Date(now).getUTCFullYear())
  if (!Number.isInteger(year) || year < FIRST_YEAR || year > LAST_YEAR)
    throw new RequestError(`year must be from ${FIRST_YEAR} to ${LAST_YEAR}`)
  return year
}
