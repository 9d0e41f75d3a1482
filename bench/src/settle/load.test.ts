import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { numberToHex } from 'viem'
import { expect, it, onTestFinished } from 'vitest'
import { fire, type Way } from './load.ts'
import type { Payment } from './payments.ts'

const TRANSACTION = numberToHex(7, { size: 32 })

const payment = (body: string): Payment => ({
  nonce: numberToHex(1, { size: 32 }),
  body: Buffer.from(body),
})

async function facilitator(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Fires two payments of each of two buyers at a facilitator that answers when it has so many to answer. */
async function fireAt(way: Way, answersAt: number) {
  const waiting: (() => void)[] = []
  const groups: string[][] = []
  let group: string[] = []
  const url = await facilitator(async (request, response) => {
    group.push(await text(request))
    waiting.push(() => response.end(JSON.stringify({ success: true, transaction: TRANSACTION })))
    if (waiting.length < answersAt) return
    groups.push(group.toSorted())
    group = []
    for (const answer of waiting.splice(0)) answer()
  })
  const payments = [
    [payment('a1'), payment('a2')],
    [payment('b1'), payment('b2')],
  ]
  const { outcomes } = await fire(url, { way, payments, beginMs: 60_000, endMs: 60_000 })
  return { groups, outcomes }
}

it('sends the next payment of a buyer when the one before has been answered', async () => {
  const { groups, outcomes } = await fireAt('closed', 2)
  expect(groups).toEqual([
    ['a1', 'b1'],
    ['a2', 'b2'],
  ])
  expect(outcomes.map(({ result }) => result)).toEqual(Array(4).fill({ transaction: TRANSACTION }))
})

it('sends all payments of a burst before the first answer', async () => {
  expect((await fireAt('burst', 4)).groups).toEqual([['a1', 'a2', 'b1', 'b2']])
})

it('begins no payment of a closed run after its time', async () => {
  const url = await facilitator((_, response) => response.end('{"success":false}'))
  const { outcomes } = await fire(url, { way: 'closed', payments: [[payment('late')]], beginMs: 0, endMs: 1 })
  expect(outcomes).toEqual([])
})

it('counts refusals and errors as failures', async () => {
  const url = await facilitator(async (request, response) => {
    const body = await text(request)
    if (body === 'refuse')
      response.end('{"success":false,"errorReason":"invalid_payment","errorMessage":"no"}')
    if (body === 'break') response.writeHead(500).end('oops')
    if (body === 'hang up') request.socket.destroy()
  })
  const payments = [['refuse', 'break', 'hang up'].map(payment)]
  const { outcomes } = await fire(url, { way: 'burst', payments, beginMs: 0, endMs: 60_000 })
  const failures = outcomes.map(({ payment, result }) => [`${payment.body}`, result])
  expect(Object.fromEntries(failures)).toEqual({
    refuse: { failure: 'invalid_payment: no' },
    break: { failure: 'HTTP 500: oops' },
    'hang up': { failure: 'socket hang up' },
  })
})

it('gives up on payments that are not answered in time', async () => {
  const url = await facilitator(() => {})
  const { outcomes } = await fire(url, { way: 'burst', payments: [[payment('')]], beginMs: 0, endMs: 50 })
  expect(outcomes.map(({ result }) => result)).toEqual([{ failure: 'no answer in time' }])
})
