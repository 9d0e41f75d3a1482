import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createEventLog } from './event-log.ts'

it('warns once of an account without gas, however many of its transactions wait', () => {
  const lines: { level: string; msg: string }[] = []
  const formatters = { level: (label: string) => ({ level: label }) }
  const log = pino({ level: 'info', formatters }, { write: (line) => lines.push(JSON.parse(line)) })
  const tell = createEventLog(log)
  const about = { chain: 1, signer: '0x0000000000000000000000000000000000000001' } as const
  const reason = 'waits for funds: needs 2 wei, 0x01 has 1 left'
  tell({ ...about, type: 'sender.unfunded', reason })
  for (let intent = 1n; intent <= 20n; intent += 1n) {
    tell({ ...about, type: 'sender.waiting', intent, reason, lacksFunds: true })
  }
  tell({ ...about, type: 'sender.waiting', intent: 21n, reason: 'reverted: no', lacksFunds: false })
  tell({ ...about, type: 'sender.funded' })
  expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    'warn sender.unfunded',
    'warn sender.waiting',
    'info sender.funded',
  ])
})
