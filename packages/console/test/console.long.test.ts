// The console in a real Chromium on the demo market. One file: the market and the browser are started once.
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { PATIENCE_MS } from '../../../sandbox/test/sandbox.ts'
import { findChromium, NO_CHROMIUM } from './harness/chromium.ts'
import { type ConsoleMarket, startConsoleMarket } from './harness/market.ts'
import { afterBuying } from './jobs/after-buying.ts'
import { buying } from './jobs/buying.ts'
import { chatting } from './jobs/chatting.ts'
import { everyPage } from './jobs/every-page.ts'
import { finding } from './jobs/finding.ts'
import { guarding } from './jobs/guarding.ts'
import { harness } from './jobs/harness.ts'
import { hostile } from './jobs/hostile.ts'
import { operating } from './jobs/operating.ts'
import { owning } from './jobs/owning.ts'
import { publishing } from './jobs/publishing.ts'
import { reading } from './jobs/reading.ts'
import { shopKeeping } from './jobs/shop-keeping.ts'
import { signingIn } from './jobs/signing-in.ts'

const chromium = findChromium()
if (!chromium) console.error(`\n${NO_CHROMIUM}\n`)

// A test opens several pages, each of which may take many seconds on a busy machine.
describe.skipIf(!chromium)('the console', { timeout: PATIENCE_MS }, () => {
  let market: ConsoleMarket
  const current = () => market
  beforeAll(async () => {
    market = await startConsoleMarket(chromium as string)
  }, PATIENCE_MS)
  afterEach(async () => expect(await market.leave()).toEqual([]))
  afterAll(() => market?.end())

  describe('the harness', () => harness(current))
  describe('who reads', () => reading(current))
  describe('who looks for something', () => finding(current))
  describe('who signs in', () => signingIn(current))
  describe('who buys', () => buying(current))
  describe('who has bought', () => afterBuying(current))
  describe('whose wallet does not do what it is asked', () => publishing(current))
  describe('who keeps a shop', () => shopKeeping(current))
  describe('who owns an agent', () => owning(current))
  describe('who chats', () => chatting(current))
  describe('who operates the market', () => operating(current))
  describe('who guards the market against rings', () => guarding(current))
  describe('every page', () => everyPage(current))
  describe('the content of strangers', () => hostile(current))
})
