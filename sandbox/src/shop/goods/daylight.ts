// When the sun rises and sets, by the sunrise equation: within a few minutes of an almanac's, and no network is needed.
import { RequestError } from '../request-error.ts'

export interface Place {
  latitude: number
  longitude: number
}

export interface Daylight {
  date: string
  /** Left out where the sun does not rise or does not set on that day. */
  sunrise?: string
  sunset?: string
  daylight_minutes: number
}

export const CITIES: Readonly<Record<string, Place>> = {
  Auckland: { latitude: -36.85, longitude: 174.76 },
  Cairo: { latitude: 30.04, longitude: 31.24 },
  'Cape Town': { latitude: -33.92, longitude: 18.42 },
  Lima: { latitude: -12.05, longitude: -77.04 },
  Lisbon: { latitude: 38.72, longitude: -9.14 },
  London: { latitude: 51.51, longitude: -0.13 },
  Nairobi: { latitude: -1.29, longitude: 36.82 },
  'New York': { latitude: 40.71, longitude: -74.01 },
  'San Francisco': { latitude: 37.77, longitude: -122.42 },
  Singapore: { latitude: 1.35, longitude: 103.82 },
  Tokyo: { latitude: 35.68, longitude: 139.69 },
  Tromsø: { latitude: 69.65, longitude: 18.96 },
}

const DAY_MS = 86_400_000
const DAY_MINUTES = 1_440
/** Of the sun's centre when its upper edge touches the horizon; the air bends its light. */
const HORIZON = -0.833
const EARTH_TILT = 23.4397

const rad = (degrees: number) => (degrees * Math.PI) / 180
const sin = (degrees: number) => Math.sin(rad(degrees))
const cos = (degrees: number) => Math.cos(rad(degrees))

export function daylightAt(place: Place, date: string): Daylight {
  const { transit, halfDay } = sunAt(place, date)
  return {
    date,
    ...(halfDay > 0 &&
      halfDay < 0.5 && { sunrise: momentOf(transit - halfDay), sunset: momentOf(transit + halfDay) }),
    daylight_minutes: Math.round(2 * halfDay * DAY_MINUTES),
  }
}

/** When the sun stands highest, in days since noon of 1 January 2000, and how long before and after that it is up, from 0 to half a day. */
export function sunAt({ latitude, longitude }: Place, date: string): { transit: number; halfDay: number } {
  const noon = (Date.parse(date) - Date.UTC(2000, 0, 1)) / DAY_MS - longitude / 360
  const anomaly = 357.5291 + 0.98560028 * noon
  const centre = 1.9148 * sin(anomaly) + 0.02 * sin(2 * anomaly) + 0.0003 * sin(3 * anomaly)
  const ecliptic = anomaly + centre + 180 + 102.9372
  const transit = noon + 0.0053 * sin(anomaly) - 0.0069 * sin(2 * ecliptic)
  const sinDeclination = sin(ecliptic) * sin(EARTH_TILT)
  const cosDeclination = Math.cos(Math.asin(sinDeclination))
  const cosHour = (sin(HORIZON) - sin(latitude) * sinDeclination) / (cos(latitude) * cosDeclination)
  return { transit, halfDay: Math.acos(Math.min(Math.max(cosHour, -1), 1)) / (2 * Math.PI) }
}

/** Rounded to the minute. */
function momentOf(days: number): string {
  const minutes = Math.round((days + 0.5) * DAY_MINUTES)
  return `${new Date(Date.UTC(2000, 0, 1) + minutes * 60_000).toISOString().slice(0, 16)}Z`
}

/** A city that the shop knows, or a latitude and a longitude in degrees. */
export function readPlace(query: URLSearchParams): { name: string; place: Place } {
  const [latitude, longitude] = [degrees(query, 'lat', 90), degrees(query, 'lon', 180)]
  if (latitude !== undefined && longitude !== undefined)
    return { name: `${latitude}, ${longitude}`, place: { latitude, longitude } }
  const asked = query.get('city') ?? 'Lisbon'
  const found = Object.entries(CITIES).find(([name]) => name.toLowerCase() === asked.toLowerCase())
  if (!found) {
    const known = Object.keys(CITIES).join(', ')
    throw new RequestError(`city must be one of ${known}; or send lat and lon in degrees`)
  }
  return { name: found[0], place: found[1] }
}

function degrees(query: URLSearchParams, name: string, most: number): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = Number(text)
  if (text.trim() === '' || !(Math.abs(value) <= most))
    throw new RequestError(`${name} must be degrees from -${most} to ${most}`)
  return value
}

/** `YYYY-MM-DD`; left out: today. */
export function readDate(query: URLSearchParams, now: number): string {
  const date = query.get('date') ?? new Date(now).toISOString().slice(0, 10)
  const isReal =
    /^\d{4}-\d\d-\d\d$/.test(date) && new Date(Date.parse(date) || 0).toISOString().startsWith(date)
  if (!isReal) throw new RequestError('date must be a day like 2026-03-20')
  return date
}
