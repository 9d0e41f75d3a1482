// Corner Store: cheap, and one gets what one pays for. Its descriptions say so; some of its reviews do not.
import { computed } from '../good.ts'
import { sentencesOf } from './text.ts'

export const CORNER = [
  computed(
    {
      path: '/corner/gist',
      name: 'Quick gist',
      description: 'The gist of a text: its first sentence.',
      category: 'text',
      price: '0.02',
      commissionBps: 4_000,
      example: '?text=Bees+make+honey.+Honey+keeps+for+years.',
    },
    (ask) => ({ gist: sentencesOf(ask.text('text'))[0] ?? '' }),
  ),
  computed(
    {
      path: '/corner/dusk',
      name: 'Dusk by latitude',
      description: 'A rough hour of dusk for a latitude and a month, to the nearest half hour.',
      category: 'api',
      price: '0.02',
      commissionBps: 4_000,
      example: '?latitude=38.7&month=6',
    },
    (ask) => {
      const latitude = ask.number('latitude', { from: -60, to: 60 })
      const month = ask.whole('month', { from: 1, to: 12 })
      const hours = 18 + (latitude / 15) * Math.cos(((month - 6) * Math.PI) / 6)
      const halves = Math.round(hours * 2)
      return { dusk: `${Math.floor(halves / 2)}:${halves % 2 === 0 ? '00' : '30'}` }
    },
  ),
  computed(
    {
      path: '/corner/budget',
      name: 'Budget splitter',
      description: 'Splits an income into needs, wants and savings by the rule of 50, 30 and 20.',
      category: 'finance',
      price: '0.03',
      commissionBps: 3_500,
      example: '?income=2400',
    },
    (ask) => {
      const income = ask.number('income', { from: 0, to: 1e9 })
      const share = (percent: number) => Number(((income * percent) / 100).toFixed(2))
      return { needs: share(50), wants: share(30), savings: share(20) }
    },
  ),
  computed(
    {
      path: '/corner/calendar',
      name: 'Month sheet',
      description: 'A month as a sheet of plain text, weeks from Monday on.',
      category: 'reference',
      price: '1.50',
      commissionBps: 4_000,
      oneOff: true,
      example: '?year=2027&month=2',
    },
    (ask) => {
      const [year, month] = [
        ask.whole('year', { from: 1950, to: 2100 }),
        ask.whole('month', { from: 1, to: 12 }),
      ]
      const before = (new Date(Date.UTC(year, month - 1, 1)).getUTCDay() + 6) % 7
      const days = new Date(Date.UTC(year, month, 0)).getUTCDate()
      const cells = Array.from({ length: before + days }, (_, at) =>
        at < before ? '' : String(at - before + 1),
      )
      const weeks = Array.from({ length: Math.ceil(cells.length / 7) }, (_, week) =>
        cells
          .slice(week * 7, week * 7 + 7)
          .map((day) => day.padStart(2))
          .join(' '),
      )
      return { sheet: ['Mo Tu We Th Fr Sa Su', ...weeks].join('\n') }
    },
  ),
]
