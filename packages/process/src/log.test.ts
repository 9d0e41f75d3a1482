import { expect, it } from 'vitest'
import { createLog } from './log.ts'

const headers = { Authorization: 'Bearer hunter2', 'x-agent-signature': '0xhunter2', accept: 'visible/thing' }

function logged(write: (log: ReturnType<typeof createLog>) => void) {
  const lines: string[] = []
  write(createLog('info', { write: (line) => lines.push(line) }))
  return { text: lines.join(''), line: JSON.parse(lines[0] ?? '') }
}

it.each<[string, object]>([
  ['of a line', { headers }],
  ['of something in a line', { request: { headers, method: 'GET' } }],
  ['of an error', { err: Object.assign(new Error('refused'), { headers }) }],
])('a line tells the headers %s without what proves who somebody is', (_where, fields) => {
  const { text } = logged((log) => log.info(fields, 'said'))
  expect(text).toContain('visible/thing')
  expect(text).toContain('[secret]')
  expect(text).not.toContain('hunter2')
})

it('a line tells everything else as it is, errors with their cause', () => {
  const err = Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'ODD' })
  const { line } = logged((log) =>
    log.child({ reqId: 'r' }).warn({ request: { method: 'GET' }, err }, 'said'),
  )
  expect(line).toMatchObject({ level: 40, reqId: 'r', msg: 'said', request: { method: 'GET' } })
  expect(line.err).toMatchObject({
    code: 'ODD',
    message: 'outer: inner',
    stack: expect.stringContaining('inner'),
  })
})
