// The console in a real Chromium on the demo market. One file: the market and the browser are started once.
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { PATIENCE_MS } from '../../../sandbox/test/sandbox.ts'
import { findChromium, NO_CHROMIUM } from './harness/chromium.ts'
import { type ConsoleMarket, startConsoleMarket } from './harness/market.ts'
import { buying } from './jobs/buying.ts'
import { everyPage } from './jobs/every-page.ts'
import { hostile } from './jobs/hostile.ts'
import { reading } from './jobs/reading.ts'
import { signingIn } from './jobs/signing-in.ts'

const chromium = findChromium()
if (!chromium) console.error(`\n${NO_CHROMIUM}\n`)

describe.skipIf(!chromium)('the console', () => {
  let market: ConsoleMarket
  const current = () => market
  beforeAll(async () => {
    market = await startConsoleMarket(chromium as string)
  }, PATIENCE_MS)
  afterEach(async () => expect(await market.leave()).toEqual([]))
  afterAll(() => market?.end())

  describe('who reads', () => reading(current))
  describe('who signs in', () => signingIn(current))
  describe('who buys', () => buying(current))
  describe('every page', () => everyPage(current))
  describe('the content of strangers', () => hostile(current))
})
