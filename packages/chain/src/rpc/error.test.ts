import { describe, expect, it } from 'vitest'
import { fromAnswer } from './error.ts'

const REVERT = '0x08c379a0'
const classify = (code: number, data?: unknown) =>
  fromAnswer('node:1', 'eth_call', { code, message: 'no', data })

describe('an error that a node answers', () => {
  it('says who answered what', () => {
    expect(classify(-32000).message).toBe('node:1 answered eth_call with -32000: no')
    expect(classify(-32000).code).toBe(-32000)
  })

  it.each([
    ['a geth that names the data', 3, REVERT],
    ['a node that wraps the data in an object', -32603, { message: 'reverted', data: REVERT }],
    ['a node that keeps to its own code', -32000, REVERT],
    ['a Nethermind that says the word first', -32015, `Reverted ${REVERT}`],
  ])('is a revert with its data from %s', (_who, code, data) => {
    expect(classify(code, data)).toMatchObject({ kind: 'reverted', data: REVERT, isRetryable: false })
  })

  it('is a revert without data when only its code says so', () => {
    expect(classify(3)).toMatchObject({ kind: 'reverted', data: undefined })
    expect(classify(3, 'out of luck')).toMatchObject({ kind: 'reverted', data: undefined })
    expect(classify(3, '0x')).toMatchObject({ kind: 'reverted', data: '0x' })
  })

  it.each([429, -32005, -32029, -32097])('is a rate limit with code %i', (code) => {
    expect(classify(code)).toMatchObject({ kind: 'rate-limited', isRetryable: true })
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'see the manual'],
    ['an object without data', { reason: 'nonce too low' }],
    ['data that is no hex', { data: '0xnothing' }],
  ])('is a refusal when it comes with %s', (_what, data) => {
    expect(classify(-32000, data)).toMatchObject({ kind: 'refused', isRetryable: true, data })
  })
})
