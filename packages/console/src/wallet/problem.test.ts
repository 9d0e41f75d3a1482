import { ReferrerError } from '@referrer/client'
import { BaseError, InsufficientFundsError, UserRejectedRequestError } from 'viem'
import { expect, it } from 'vitest'
import { problemOf } from './problem.ts'

it('says that a person declined, whichever way the wallet says it', () => {
  const byCode = Object.assign(new Error('denied'), { code: 4001 })
  const byViem = new BaseError('could not send', { cause: new UserRejectedRequestError(new Error('no')) })
  for (const error of [byCode, byViem]) {
    expect(problemOf(error)).toMatchObject({
      message: 'You declined in your wallet',
      next: 'Nothing happened. Try again when you are ready.',
    })
  }
})

it('says that the network’s fee cannot be paid', () => {
  const error = new BaseError('could not send', { cause: new InsufficientFundsError({}) })
  expect(problemOf(error)).toMatchObject({ message: 'Your wallet has too little to pay the network’s fee' })
})

it('shows a refusal of the market as pages show it, with its status', () => {
  const refusal = new ReferrerError('POST /v1/votes/step2', { status: 403, reason: 'not authorized' })
  expect(problemOf(refusal)).toMatchObject({
    message: 'not authorized',
    status: 403,
    next: 'Sign in with the wallet that owns this.',
  })
})

it('leaves other errors as they are', () => {
  const error = new TypeError('a mistake of ours')
  expect(problemOf(error)).toBe(error)
})
