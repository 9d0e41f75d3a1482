import { expect, it } from 'vitest'
import { createTurns, siteOf } from './turns.ts'

it('lets so many work at once and the others in their order, whether the work succeeds or fails', async () => {
  const inTurns = createTurns(2)
  const began: number[] = []
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const all = gates.map((gate, at) =>
    inTurns(() => {
      began.push(at)
      return gate.promise
    }),
  )
  const settled = Promise.allSettled(all)
  expect(began).toEqual([0, 1])
  gates[1]?.reject(new Error('no'))
  await expect.poll(() => began).toEqual([0, 1, 2])
  gates[0]?.resolve()
  await expect.poll(() => began).toEqual([0, 1, 2, 3])
  for (const gate of gates) gate.resolve()
  const results = await settled
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ])
  await expect(inTurns(async () => 'free again')).resolves.toBe('free again')
})

it('lets nobody take more than a share: who waits for others of one host is passed by', async () => {
  const inTurns = createTurns(3, { host: 2 })
  const began: string[] = []
  const gates = new Map<string, () => void>()
  const work = (name: string, host: string) =>
    inTurns(
      () => {
        began.push(name)
        return new Promise<void>((end) => gates.set(name, end))
      },
      { host },
    )
  const all = [work('slow 1', 'slow'), work('slow 2', 'slow'), work('slow 3', 'slow'), work('fast', 'fast')]
  expect(began).toEqual(['slow 1', 'slow 2', 'fast'])
  expect([inTurns.free(), inTurns.full('host'), inTurns.hasRoom({ host: 'fast' })]).toEqual([
    0,
    ['slow'],
    false,
  ])
  gates.get('fast')?.()
  await all[3]
  expect(began).toHaveLength(3)
  expect([inTurns.hasRoom({ host: 'slow' }), inTurns.hasRoom({ host: 'fast' })]).toEqual([false, true])
  gates.get('slow 1')?.()
  await all[0]
  expect(began.at(-1)).toBe('slow 3')
  for (const end of gates.values()) end()
  await Promise.all(all)
  expect([inTurns.free(), inTurns.full('host')]).toEqual([3, []])
})

it.each([
  ['a.b.shop.example', 'shop.example'],
  ['shop.example.', 'shop.example'],
  ['x.shop.co.uk', 'shop.co.uk'],
  ['shop.example:8080', 'shop.example'],
  ['localhost', 'localhost'],
  ['shop.com.br', 'shop.com.br'],
  ['a.b.com.br', 'b.com.br'],
  ['a.foo.de', 'foo.de'],
  ['b.co.com', 'co.com'],
  ['co.uk', 'co.uk'],
  ['127.0.0.1:80', '127.0.0.1'],
  ['127.0.0.2', '127.0.0.2'],
  ['[2001:db8:7:1::1]:80', '2001:db8:7'],
  ['[2001:db8:7:ffff::]', '2001:db8:7'],
  ['[2001:db8:8::]', '2001:db8:8'],
  ['a.SH%6fp.example', 'shop.example'],
  ['0x7f.1', '127.0.0.1'],
])(
  'takes the names below a registered one, and the addresses of a network, for one: %s is of %s',
  (host, site) => {
    expect(siteOf(new URL(`http://${host}`))).toBe(site)
  },
)
