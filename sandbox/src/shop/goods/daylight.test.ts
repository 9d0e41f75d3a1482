import { describe, expect, it } from 'vitest'
import { RequestError } from '../request-error.ts'
import { CITIES, daylightAt, type Place, readDate, readPlace } from './daylight.ts'

const city = (name: string) => CITIES[name] as Place
const minutesApart = (a: string | undefined, b: string) =>
  Math.abs(Date.parse(a ?? '') - Date.parse(b)) / 60_000

describe('daylight', () => {
  // As almanacs print them for these cities.
  it.each([
    ['London', '2026-06-21', '2026-06-21T03:43Z', '2026-06-21T20:21Z'],
    ['London', '2026-12-21', '2026-12-21T08:04Z', '2026-12-21T15:53Z'],
    ['New York', '2026-06-21', '2026-06-21T09:25Z', '2026-06-22T00:31Z'],
    ['Auckland', '2026-12-21', '2026-12-20T16:58Z', '2026-12-21T07:39Z'],
  ])('of %s on %s is that of an almanac, within three minutes', (name, date, sunrise, sunset) => {
    const daylight = daylightAt(city(name), date)
    expect(minutesApart(daylight.sunrise, sunrise)).toBeLessThanOrEqual(3)
    expect(minutesApart(daylight.sunset, sunset)).toBeLessThanOrEqual(3)
  })

  it('lasts all day or not at all beyond the polar circle, without a sunrise', () => {
    expect(daylightAt(city('Tromsø'), '2026-06-21')).toEqual({ date: '2026-06-21', daylight_minutes: 1_440 })
    expect(daylightAt(city('Tromsø'), '2026-12-21')).toEqual({ date: '2026-12-21', daylight_minutes: 0 })
    expect(daylightAt({ latitude: 90, longitude: 0 }, '2026-06-21').daylight_minutes).toBe(1_440)
  })

  it('knows its cities in any spelling of their letters, and any other place by degrees', () => {
    expect(readPlace(new URLSearchParams('city=new york')).name).toBe('New York')
    expect(readPlace(new URLSearchParams('lat=-33.9&lon=151.2')).place).toEqual({
      latitude: -33.9,
      longitude: 151.2,
    })
    expect(readPlace(new URLSearchParams()).name).toBe('Lisbon')
  })

  it.each([
    'city=Atlantis',
    'city=constructor',
    'lat=91&lon=0',
    'lat=&lon=0',
    'lat=x&lon=0',
    'lon=181&lat=0',
  ])('refuses the place %s', (query) => {
    expect(() => readPlace(new URLSearchParams(query))).toThrow(RequestError)
  })

  it.each(['2026-02-30', '2026-13-01', 'tomorrow', '2026-1-1', ''])('refuses the date "%s"', (date) => {
    expect(() => readDate(new URLSearchParams({ date }), 0)).toThrow(RequestError)
  })

  it('is that of today when no date is given', () => {
    expect(readDate(new URLSearchParams(), Date.UTC(2027, 1, 28, 23, 59))).toBe('2027-02-28')
  })
})
