import { describe, expect, it } from 'vitest'
import { type Facts, nextStep, stepsOf } from './steps.ts'

const nothing: Facts = {
  isOwned: false,
  isActive: false,
  isKnown: false,
  isListed: false,
  isReady: false,
  isDescribed: false,
  hasSale: false,
}
const whole = Object.fromEntries(Object.keys(nothing).map((fact) => [fact, true])) as unknown as Facts

describe('the steps of opening a shop', () => {
  it('begin with an identity, and only that is possible', () => {
    const steps = stepsOf(nothing)
    expect(nextStep(steps)).toBe('identity')
    expect(steps.filter(({ isPossible }) => isPossible).map(({ name }) => name)).toEqual(['identity'])
  })

  it('go on where the chain and the market say', () => {
    expect(nextStep(stepsOf({ ...nothing, isOwned: true }))).toBe('open')
    expect(nextStep(stepsOf({ ...nothing, isOwned: true, isActive: true }))).toBe('open')
    expect(nextStep(stepsOf({ ...nothing, isOwned: true, isActive: true, isKnown: true }))).toBe('list')
    expect(nextStep(stepsOf({ ...whole, isReady: false, hasSale: false }))).toBe('serve')
    expect(nextStep(stepsOf({ ...whole, hasSale: false }))).toBe('sale')
  })

  it('let a product be described before its endpoint runs', () => {
    const steps = stepsOf({ ...nothing, isOwned: true, isActive: true, isKnown: true, isListed: true })
    expect(steps.find(({ name }) => name === 'describe')?.isPossible).toBe(true)
  })

  it('end when all is there', () => {
    expect(nextStep(stepsOf(whole))).toBeUndefined()
  })

  it('are not done for an identity of somebody else, whatever its shop has', () => {
    const steps = stepsOf({ ...whole, isOwned: false })
    expect(steps.some(({ isDone }) => isDone)).toBe(false)
  })
})
