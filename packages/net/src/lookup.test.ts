import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { publicLookup } from './lookup.ts'

const server = createSocket('udp4')
const TYPES = { a: 1, aaaa: 28 }
const ADDRESS = { [TYPES.a]: Buffer.from([198, 51, 100, 7]), [TYPES.aaaa]: Buffer.alloc(16, 1) }

beforeAll(async () => {
  server.on('message', (question, { port, address }) => {
    const length = question[12] ?? 0
    const name = question.toString('latin1', 13, 13 + length)
    // The rest of the name, its type and its class.
    const type = question.readUInt16BE(question.indexOf(0, 12) + 1)
    const found = name === 'both' || (name === 'four' && type === TYPES.a) ? ADDRESS[type] : undefined
    if (name === 'silent') return
    const head = Buffer.from([0x81, name === 'none' ? 0x83 : 0x80, 0, 1, 0, found ? 1 : 0, 0, 0, 0, 0])
    const asked = question.subarray(12, question.indexOf(0, 12) + 5)
    const answer = found
      ? Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, found.length]), found])
      : Buffer.alloc(0)
    server.send(Buffer.concat([question.subarray(0, 2), head, asked, answer]), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => server.close())

function lookup(host: string) {
  // A busy machine answers late, and one name gets no answer at all.
  const resolver = new Resolver({ timeout: host.startsWith('silent') ? 200 : 20_000, tries: 1 })
  resolver.setServers([`127.0.0.1:${server.address().port}`])
  return publicLookup(resolver)(host)
}

it('finds the addresses of both families', async () => {
  expect(await lookup('both.test')).toEqual([
    { address: '198.51.100.7', family: 4 },
    { address: '101:101:101:101:101:101:101:101', family: 6 },
  ])
  expect(await lookup('four.test')).toEqual([{ address: '198.51.100.7', family: 4 }])
})

it('says when there is no such name, or nobody to ask', async () => {
  await expect(lookup('none.test')).rejects.toThrow('ENOTFOUND')
  await expect(lookup('silent.test')).rejects.toThrow('ETIMEOUT')
})
