// The console in a real Chromium on the demo market. One file: the market and the browser are started once.
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { PATIENCE_MS } from '../../../sandbox/test/sandbox.ts'
import { findChromium, NO_CHROMIUM } from './harness/chromium.ts'
import { type ConsoleMarket, startConsoleMarket } from './harness/market.ts'
import { everyPage } from './jobs/every-page.ts'
import { reading } from './jobs/reading.ts'

const chromium = findChromium()
if (!chromium) console.error(`\n${NO_CHROMIUM}\n`)

describe.skipIf(!chromium)('the console', () => {
  let market: ConsoleMarket
  const current = () => market
  beforeAll(async () => {
    market = await startConsoleMarket(chromium as string)
  }, PATIENCE_MS)
  afterEach(() => market.leave())
  afterAll(() => market?.end())

  describe('who reads', () => reading(current))
  describe('every page', () => everyPage(current))
})
