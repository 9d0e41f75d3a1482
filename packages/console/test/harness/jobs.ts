// The console in a real Chromium on the demo market, which a file of tests starts once.
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { PATIENCE_MS } from '../../../../sandbox/test/sandbox.ts'
import { findChromium, NO_CHROMIUM } from './chromium.ts'
import { type ConsoleMarket, startConsoleMarket } from './market.ts'

export type Job = (market: () => ConsoleMarket) => void

/** Runs the tests of jobs, which are named by who does them. */
export function inTheConsole(jobs: Record<string, Job>): void {
  const chromium = findChromium()
  if (!chromium) console.error(`\n${NO_CHROMIUM}\n`)

  // A test opens several pages, each of which may take many seconds on a busy machine.
  describe.skipIf(!chromium)('the console', { timeout: PATIENCE_MS }, () => {
    let market: ConsoleMarket
    beforeAll(async () => {
      market = await startConsoleMarket(chromium as string)
    }, PATIENCE_MS)
    afterEach(async () => expect(await market.leave()).toEqual([]))
    afterAll(() => market?.end())

    for (const [who, job] of Object.entries(jobs)) describe(who, () => job(() => market))
  })
}
