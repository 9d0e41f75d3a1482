// Meridian: places and time.
import { computed } from '../good.ts'
import { RequestError } from '../request-error.ts'
import { CITIES, type Place } from './daylight.ts'

const EARTH_KM = 6_371
const DAY_MS = 86_400_000
const SYNODIC_MONTH = 29.530588853
const NEW_MOON = Date.UTC(2000, 0, 6, 18, 14)
const PHASES = [
  'new moon',
  'waxing crescent',
  'first quarter',
  'waxing gibbous',
  'full moon',
  'waning gibbous',
  'last quarter',
  'waning crescent',
]
const ZONES: Readonly<Record<string, string>> = {
  Auckland: 'Pacific/Auckland',
  Cairo: 'Africa/Cairo',
  'Cape Town': 'Africa/Johannesburg',
  Lima: 'America/Lima',
  Lisbon: 'Europe/Lisbon',
  London: 'Europe/London',
  Nairobi: 'Africa/Nairobi',
  'New York': 'America/New_York',
  'San Francisco': 'America/Los_Angeles',
  Singapore: 'Asia/Singapore',
  Tokyo: 'Asia/Tokyo',
  Tromsø: 'Europe/Oslo',
}
const COUNTRIES: Readonly<Record<string, [name: string, capital: string, currency: string, calls: string]>> =
  {
    AR: ['Argentina', 'Buenos Aires', 'ARS', '+54'],
    AU: ['Australia', 'Canberra', 'AUD', '+61'],
    BR: ['Brazil', 'Brasília', 'BRL', '+55'],
    CA: ['Canada', 'Ottawa', 'CAD', '+1'],
    CH: ['Switzerland', 'Bern', 'CHF', '+41'],
    DE: ['Germany', 'Berlin', 'EUR', '+49'],
    EG: ['Egypt', 'Cairo', 'EGP', '+20'],
    FR: ['France', 'Paris', 'EUR', '+33'],
    GB: ['United Kingdom', 'London', 'GBP', '+44'],
    IN: ['India', 'New Delhi', 'INR', '+91'],
    JP: ['Japan', 'Tokyo', 'JPY', '+81'],
    KE: ['Kenya', 'Nairobi', 'KES', '+254'],
    MX: ['Mexico', 'Mexico City', 'MXN', '+52'],
    NO: ['Norway', 'Oslo', 'NOK', '+47'],
    NZ: ['New Zealand', 'Wellington', 'NZD', '+64'],
    PE: ['Peru', 'Lima', 'PEN', '+51'],
    PT: ['Portugal', 'Lisbon', 'EUR', '+351'],
    SG: ['Singapore', 'Singapore', 'SGD', '+65'],
    US: ['United States', 'Washington, D.C.', 'USD', '+1'],
    ZA: ['South Africa', 'Pretoria', 'ZAR', '+27'],
  }
/** Fixed days as month and day, and days after Easter Sunday. */
const HOLIDAYS: Readonly<Record<string, readonly (readonly [day: string | number, name: string])[]>> = {
  DE: [
    ['01-01', 'New Year'],
    [-2, 'Good Friday'],
    [1, 'Easter Monday'],
    ['05-01', 'Labour Day'],
    [39, 'Ascension'],
    [50, 'Whit Monday'],
    ['10-03', 'German Unity Day'],
    ['12-25', 'Christmas Day'],
    ['12-26', 'Second Christmas Day'],
  ],
  FR: [
    ['01-01', 'New Year'],
    [1, 'Easter Monday'],
    ['05-01', 'Labour Day'],
    ['05-08', 'Victory Day'],
    [39, 'Ascension'],
    [50, 'Whit Monday'],
    ['07-14', 'Bastille Day'],
    ['08-15', 'Assumption'],
    ['11-01', 'All Saints'],
    ['11-11', 'Armistice Day'],
    ['12-25', 'Christmas Day'],
  ],
  PT: [
    ['01-01', 'New Year'],
    [-2, 'Good Friday'],
    [0, 'Easter Sunday'],
    ['04-25', 'Freedom Day'],
    ['05-01', 'Labour Day'],
    [60, 'Corpus Christi'],
    ['06-10', 'Portugal Day'],
    ['08-15', 'Assumption'],
    ['10-05', 'Republic Day'],
    ['11-01', 'All Saints'],
    ['12-01', 'Restoration of Independence'],
    ['12-08', 'Immaculate Conception'],
    ['12-25', 'Christmas Day'],
  ],
}
/** Of the base unit of what they measure. */
const UNITS: Readonly<Record<string, [measures: string, size: number]>> = {
  mm: ['length', 0.001],
  cm: ['length', 0.01],
  m: ['length', 1],
  km: ['length', 1_000],
  inch: ['length', 0.0254],
  foot: ['length', 0.3048],
  yard: ['length', 0.9144],
  mile: ['length', 1_609.344],
  g: ['mass', 0.001],
  kg: ['mass', 1],
  ounce: ['mass', 0.028349523125],
  pound: ['mass', 0.45359237],
  ml: ['volume', 0.001],
  litre: ['volume', 1],
  gallon: ['volume', 3.785411784],
}

const rad = (degrees: number) => (degrees * Math.PI) / 180
const placeOf = (city: string): Place => CITIES[city] as Place

/** The great circle, by the haversine formula. */
function kmBetween(a: Place, b: Place): number {
  const [up, along] = [rad(b.latitude - a.latitude), rad(b.longitude - a.longitude)]
  const h =
    Math.sin(up / 2) ** 2 + Math.cos(rad(a.latitude)) * Math.cos(rad(b.latitude)) * Math.sin(along / 2) ** 2
  return 2 * EARTH_KM * Math.asin(Math.sqrt(h))
}

/** By the anonymous Gregorian algorithm. */
function easterOf(year: number): number {
  const [a, b, c] = [year % 19, Math.floor(year / 100), year % 100]
  const h = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7
  const m = Math.floor((a + 11 * h + 22 * l) / 451)
  const day = h + l - 7 * m + 114
  return Date.UTC(year, Math.floor(day / 31) - 1, (day % 31) + 1)
}

export const GEO = [
  computed(
    {
      path: '/meridian/distance',
      name: 'City distance',
      description: 'How far two cities are apart along the great circle, in kilometres and miles.',
      category: 'api',
      price: '0.02',
      commissionBps: 1_000,
      example: '?from=Lisbon&to=Tokyo',
    },
    (ask) => {
      const cities = Object.keys(CITIES)
      const [from, to] = [ask.choice('from', cities), ask.choice('to', cities)]
      const km = kmBetween(placeOf(from), placeOf(to))
      return { from, to, km: Math.round(km), miles: Math.round(km / 1.609344) }
    },
  ),
  computed(
    {
      path: '/meridian/time',
      name: 'World clock',
      description: 'What the clocks show in a city at a moment, daylight saving time included.',
      category: 'api',
      price: '0.01',
      commissionBps: 1_500,
      example: '?city=Tokyo&at=2026-03-20T12:00:00Z',
    },
    (ask, now) => {
      const city = ask.choice('city', Object.keys(ZONES))
      const at = Date.parse(ask.text('at', new Date(now).toISOString()))
      if (Number.isNaN(at)) throw new RequestError('at must be a moment like 2026-03-20T12:00:00Z')
      const timeZone = ZONES[city] as string
      const local = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
      return { city, time_zone: timeZone, local_time: local.format(at) }
    },
  ),
  computed(
    {
      path: '/meridian/moon',
      name: 'Moon phase',
      description: 'The phase of the moon on a day, its age in days, and how much of it is lit.',
      category: 'api',
      price: '0.02',
      commissionBps: 2_000,
      example: '?date=2026-03-20',
    },
    (ask, now) => {
      const date = ask.date('date', now)
      const days = (Date.parse(`${date}T12:00:00Z`) - NEW_MOON) / DAY_MS
      const age = ((days % SYNODIC_MONTH) + SYNODIC_MONTH) % SYNODIC_MONTH
      const lit = (1 - Math.cos((2 * Math.PI * age) / SYNODIC_MONTH)) / 2
      const phase = PHASES[Math.round((age / SYNODIC_MONTH) * 8) % 8]
      return { date, phase, age_days: Number(age.toFixed(1)), lit_percent: Math.round(lit * 100) }
    },
  ),
  computed(
    {
      path: '/meridian/convert',
      name: 'Unit conversion',
      description: 'Converts lengths, masses and volumes between metric and customary units.',
      category: 'api',
      price: '0.01',
      commissionBps: 1_000,
      example: '?value=26.2&from=mile&to=km',
    },
    (ask) => {
      const names = Object.keys(UNITS)
      const [from, to] = [ask.choice('from', names), ask.choice('to', names)]
      const [[measured, size], [wanted, other]] = [UNITS[from], UNITS[to]] as [
        [string, number],
        [string, number],
      ]
      if (measured !== wanted) throw new RequestError(`${from} is a ${measured} and ${to} a ${wanted}`)
      const value = ask.number('value', { from: -1e12, to: 1e12 })
      return { value, from, to, result: Number(((value * size) / other).toPrecision(10)) }
    },
  ),
  computed(
    {
      path: '/meridian/country',
      name: 'Country facts',
      description: 'Name, capital, currency and calling code of a country, by its two-letter code.',
      category: 'reference',
      price: '0.02',
      commissionBps: 2_000,
      example: '?code=PT',
    },
    (ask) => {
      const code = ask.choice('code', Object.keys(COUNTRIES))
      const [name, capital, currency, calling_code] = COUNTRIES[code] as [string, string, string, string]
      return { code, name, capital, currency, calling_code }
    },
  ),
  computed(
    {
      path: '/meridian/holidays',
      name: 'Public holidays',
      description: 'The public holidays of Germany, France or Portugal in any year from 1950 to 2100.',
      category: 'reference',
      price: '0.60',
      commissionBps: 2_500,
      oneOff: true,
      example: '?country=PT&year=2027',
    },
    (ask, now) => {
      const country = ask.choice('country', Object.keys(HOLIDAYS))
      const fallback = new Date(now).getUTCFullYear()
      const year = ask.whole('year', { from: 1950, to: 2100, fallback })
      const dayOf = (day: string | number) =>
        typeof day === 'string'
          ? `${year}-${day}`
          : new Date(easterOf(year) + day * DAY_MS).toISOString().slice(0, 10)
      const holidays = (HOLIDAYS[country] ?? []).map(([day, name]) => ({ date: dayOf(day), name }))
      return { country, year, holidays: holidays.toSorted((a, b) => (a.date < b.date ? -1 : 1)) }
    },
  ),
]
