import { describe, expect, it } from 'vitest'
import { RequestError } from './request-error.ts'
import { GOODS, SHOPS } from './shops.ts'

const NOON = Date.UTC(2026, 2, 20, 12)

const goodAt = (path: string) => {
  const good = GOODS.find((one) => one.path === path)
  if (!good) throw new Error(`nobody sells ${path}`)
  return good
}
const ask = async (path: string, query: string) =>
  (await goodAt(path).prepare(new Request(`http://shop.test${path}${query}`), NOON))()

/** What each good answers: known values, from tables and standards. */
const ANSWERS: [path: string, query: string, answer: object][] = [
  ['/meridian/distance', '?from=Lisbon&to=Tokyo', { from: 'Lisbon', to: 'Tokyo', km: 11_144, miles: 6_925 }],
  ['/meridian/distance', '?from=london&to=LONDON', { from: 'London', to: 'London', km: 0, miles: 0 }],
  [
    '/meridian/time',
    '?city=New+York&at=2026-03-20T12:00:00Z',
    { city: 'New York', time_zone: 'America/New_York', local_time: '2026-03-20 08:00:00' },
  ],
  [
    '/meridian/moon',
    '?date=2024-04-23',
    { date: '2024-04-23', phase: 'full moon', age_days: 14.6, lit_percent: 100 },
  ],
  [
    '/meridian/convert',
    '?value=26.2&from=mile&to=km',
    { value: 26.2, from: 'mile', to: 'km', result: 42.1648128 },
  ],
  [
    '/meridian/country',
    '?code=pt',
    { code: 'PT', name: 'Portugal', capital: 'Lisbon', currency: 'EUR', calling_code: '+351' },
  ],
  [
    '/meridian/holidays',
    '?country=DE&year=2027',
    { holidays: expect.arrayContaining([{ date: '2027-03-29', name: 'Easter Monday' }]) },
  ],
  ['/quill/count', '?text=Bees+make+honey.+Yes.', { words: 4, sentences: 2, characters: 21, minutes: 1 }],
  ['/quill/readability', '?text=The+cat+sat+on+the+mat.', { reading_ease: 116.1, school_grade: -1.4 }],
  ['/quill/language', '?text=Der+Hund+und+die+Katze', { language: 'German', hits: 3, words: 5 }],
  ['/quill/language', '?text=Zzz', { language: 'unknown', hits: 0, words: 1 }],
  ['/quill/slug', '?text=Crème+brûlée+in+30+minutes!', { slug: 'creme-brulee-in-30-minutes' }],
  [
    '/quill/markdown',
    `?text=${encodeURIComponent('# A & B\n\n- **x**\n- [y](https://y.example)\n\n<script>`z`')}`,
    {
      html: '<h1>A &amp; B</h1>\n<ul><li><strong>x</strong></li><li><a href="https://y.example">y</a></li></ul>\n<p>&lt;script&gt;<code>z</code></p>',
    },
  ],
  [
    '/quill/markdown',
    `?text=${encodeURIComponent('[x](javascript:alert(1))')}`,
    { html: '<p>[x](javascript:alert(1))</p>' },
  ],
  ['/quill/filler', '?sentences=2', { text: 'The ferry leaves at six. Nobody had told the baker.' }],
  [
    '/lathe/hash',
    '?text=hello',
    {
      algorithm: 'sha256',
      hex: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      base64: 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=',
    },
  ],
  ['/lathe/uuid', '?name=https://example.com/', { uuid: 'dd2c1780-811a-5296-81c5-178a0ef488bc', version: 5 }],
  [
    '/lathe/glob',
    '?pattern=src/**/*.ts&paths=src/a.ts,src/b/c/d.ts,test/d.ts,src/a.tsx,src',
    { matches: ['src/a.ts', 'src/b/c/d.ts'] },
  ],
  ['/lathe/glob', '?pattern=a*b*c&paths=abc,axbxc,ab,ac,abcd', { matches: ['abc', 'axbxc'] }],
  [
    '/lathe/cron',
    '?expression=*/30+9+*+*+1-5&after=2026-03-20T12:00:00Z',
    { expression: '*/30 9 * * 1-5', next: ['2026-03-23T09:00Z', '2026-03-23T09:30Z', '2026-03-24T09:00Z'] },
  ],
  ['/lathe/cron', '?expression=0+0+30+2+*', { expression: '0 0 30 2 *', next: [] }],
  [
    '/lathe/csv',
    `?csv=${encodeURIComponent('name,note\nAda,"a ""b"", c\nd"\nGrace,')}`,
    {
      rows: [
        { name: 'Ada', note: 'a "b", c\nd' },
        { name: 'Grace', note: '' },
      ],
    },
  ],
  [
    '/lathe/semver',
    '?versions=1.10.0,1.9.2,1.10.0-rc.2,1.10.0-rc.10,1.10.0-beta',
    { sorted: ['1.9.2', '1.10.0-beta', '1.10.0-rc.2', '1.10.0-rc.10', '1.10.0'], newest: '1.10.0' },
  ],
  [
    '/ledger/loan',
    '?amount=200000&rate=3.5&months=240',
    { monthly_payment: 1_159.92, total: 278_380.66, interest: 78_380.66 },
  ],
  ['/ledger/loan', '?amount=1200&rate=0&months=12', { monthly_payment: 100, total: 1_200, interest: 0 }],
  [
    '/ledger/compound',
    '?amount=1000&rate=12&years=1',
    { balance: 1_126.83, paid_in: 1_000, interest: 126.83 },
  ],
  ['/ledger/iban', '?iban=DE89+3704+0044+0532+0130+00', { valid: true, country: 'DE' }],
  ['/ledger/iban', '?iban=DE88370400440532013000', { valid: false, reason: 'the check digits are wrong' }],
  ['/ledger/nif', '?nif=PT+501964843', { nif: '501964843', valid: true }],
  ['/ledger/nif', '?nif=501964844', { nif: '501964844', valid: false }],
  ['/ledger/card', '?number=4111-1111-1111-1111', { valid: true, network: 'Visa' }],
  ['/ledger/card', '?number=5500000000000005', { valid: false, network: 'Mastercard' }],
  [
    '/ledger/daycount',
    '?from=2026-01-31&to=2026-07-31',
    { days: 181, act_365: 0.49589, act_360: 0.502778, thirty_360: 0.5 },
  ],
  [
    '/palette/scheme',
    '?colour=%233366cc&scheme=triadic',
    { scheme: 'triadic', colours: ['#3366cc', '#cc3366', '#66cc33'] },
  ],
  [
    '/palette/contrast',
    '?text=767676&background=ffffff',
    { ratio: 4.54, aa: true, aa_large: true, aaa: false },
  ],
  [
    '/palette/barcode',
    '?number=400638133393',
    { number: '4006381333931', svg: expect.stringMatching(/^<svg .*viewBox="0 0 95 30"/) },
  ],
  [
    '/palette/identicon',
    '?name=agent-7',
    { colour: '#02a345', svg: expect.stringContaining('<g fill="#02a345">') },
  ],
  [
    '/palette/sparkline',
    '?values=3,5,4',
    { least: 3, most: 5, svg: expect.stringContaining('points="0,20 4,0 8,10"') },
  ],
  [
    '/abacus/statistics',
    '?values=2,4,4,4,5,5,7,9',
    { count: 8, mean: 5, median: 4.5, deviation: 2, quartiles: [4, 5.5] },
  ],
  ['/abacus/factors', '?number=360', { number: 360, factors: [2, 2, 2, 3, 3, 5], is_prime: false }],
  ['/abacus/factors', '?number=999999999989', { factors: [999_999_999_989], is_prime: true }],
  ['/abacus/roman', '?number=1994', { number: 1_994, roman: 'MCMXCIV' }],
  ['/abacus/roman', '?number=mcmxciv', { number: 1_994, roman: 'MCMXCIV' }],
  ['/abacus/password', '?password=qwerty123', { bits: 10, is_common: true }],
  ['/corner/gist', '?text=Bees+make+honey.+Honey+keeps.', { gist: 'Bees make honey.' }],
  ['/corner/dusk', '?latitude=38.7&month=6', { dusk: '20:30' }],
  ['/corner/budget', '?income=2400', { needs: 1_200, wants: 720, savings: 480 }],
  [
    '/corner/calendar',
    '?year=2026&month=3',
    { sheet: expect.stringMatching(/^Mo Tu We Th Fr Sa Su\n {19}1\n 2 .*\n30 31$/s) },
  ],
]

const REFUSED: [path: string, query: string, message: RegExp][] = [
  ['/meridian/distance', '?from=Lisbon&to=Atlantis', /^to must be one of Auckland, /],
  ['/meridian/time', '?city=Lima&at=soon', /^at must be a moment/],
  ['/meridian/convert', '?value=1&from=litre&to=kg', /^litre is a volume and kg a mass$/],
  ['/meridian/moon', '?date=2026-02-30', /^date must be a day/],
  ['/quill/count', '', /^text is missing$/],
  ['/quill/slug', '?text=Привет', /Latin/],
  ['/lathe/cron', '?expression=61+*+*+*+*', /^minute must be from 0 to 59$/],
  ['/lathe/cron', '?expression=*/0+*+*+*+*', /^minute must be/],
  ['/lathe/semver', '?versions=1.2', /^1\.2 is no version/],
  ['/ledger/nif', '?nif=12', /nine digits/],
  ['/ledger/daycount', '?from=2026-02-01&to=2026-01-01', /^to must not be before from$/],
  ['/palette/scheme', '?colour=blue', /^colour must be a colour like 3366cc$/],
  ['/palette/sparkline', '?values=1,x', /numbers separated by commas$/],
  ['/abacus/factors', '?number=1.5', /^number must be a number|whole number/],
  ['/abacus/roman', '?number=IIII', /^IIII is no Roman numeral$/],
]

describe('the goods of the demo shops', () => {
  it('are forty, of six categories and eight shops, each at a path and with an id of its own', () => {
    expect(GOODS).toHaveLength(40)
    expect(SHOPS).toHaveLength(8)
    expect(new Set(GOODS.map(({ category }) => category)).size).toBe(6)
    expect(new Set(GOODS.map(({ path }) => path)).size).toBe(40)
    expect(new Set(GOODS.map(({ productId }) => productId)).size).toBe(40)
  })

  it.each(ANSWERS)('%s%s answers', async (path, query, answer) => {
    expect(await ask(path, query)).toMatchObject(answer)
  })

  it.each(REFUSED)('%s%s is refused before it is paid', async (path, query, message) => {
    const refused = ask(path, query)
    await expect(refused).rejects.toThrow(RequestError)
    await expect(refused).rejects.toThrow(message)
  })

  it('refuse a text of more than 20,000 characters', async () => {
    const long = ask('/quill/count', `?text=${'a'.repeat(20_001)}`)
    await expect(long).rejects.toThrow('text must have at most 20000 characters')
  })

  it('answer their own examples', async () => {
    for (const { path, example } of GOODS) expect(await ask(path, example)).toBeTypeOf('object')
  })

  it('take the fields from a JSON body as well', async () => {
    const asked = (body: string) =>
      goodAt('/abacus/roman').prepare(new Request('http://shop.test/', { method: 'POST', body }), NOON)
    expect((await asked('{"number": 4}'))()).toEqual({ number: 4, roman: 'IV' })
    await expect(asked('4')).rejects.toThrow('the body must be a JSON object')
  })

  it('match a glob with many stars in an instant', async () => {
    const pattern = `${'**/a*/'.repeat(200)}z`
    expect(await ask('/lathe/glob', `?pattern=${pattern}&paths=${'ab/'.repeat(1_000)}y`)).toEqual({
      matches: [],
    })
  })
})
