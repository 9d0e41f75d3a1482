import { developmentAccount, type LocalChain, startLocalChain } from '@referrer/contracts/local'
import { type Address, type Hex, keccak256, pad, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bloomMatcher } from './bloom.ts'

const sender = developmentAccount(0)
const emitter: Address = '0x00000000000000000000000000000000000e317e'
const event = keccak256(toHex('Happened()'))
/** Logs its only topic, whatever it is called with. */
const emitterCode: Hex = `0x7f${event.slice(2)}60006000a100`

const stranger = (index: number): Address => pad(toHex(index + 1), { size: 20 })
const otherEvent = (index: number): Hex => keccak256(toHex(`Other${index}()`))

let local: LocalChain
let bloom: Hex

beforeAll(async () => {
  local = await startLocalChain({ chainId: 31_401 })
  await local.client.setCode({ address: emitter, bytecode: emitterCode })
  const hash = await local.client.sendTransaction({ account: sender, to: emitter })
  const { blockHash, logs } = await local.client.waitForTransactionReceipt({ hash })
  if (logs.length !== 1) throw new Error('the transaction logged nothing')
  bloom = (await local.client.getBlock({ blockHash })).logsBloom
})
afterAll(() => local.close())

const matches = (addresses: Address[], events: Hex[], of = bloom) => bloomMatcher({ addresses, events })(of)

describe('the bloom filter of a block of a real chain', () => {
  it('has what was logged', () => {
    expect(matches([emitter], [event])).toBe(true)
    expect(matches([stranger(0), emitter], [otherEvent(0), event])).toBe(true)
  })

  it('has neither other contracts nor other events', () => {
    const wrong = Array.from({ length: 50 }, (_, at) => [
      matches([stranger(at)], [event]),
      matches([emitter], [otherEvent(at)]),
      matches([stranger(at)], [otherEvent(at)]),
    ])
    expect(wrong.flat()).not.toContain(true)
  })

  it('has nothing when the block logged nothing', async () => {
    await local.client.mine({ blocks: 1 })
    const empty = await local.client.getBlock()
    expect(matches([emitter], [event], empty.logsBloom)).toBe(false)
  })
})
