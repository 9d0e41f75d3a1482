// The sandbox with its demo market and a Chromium to visit it: one of each for all browser tests.
import type { Browser } from 'playwright-core'
import { expect } from 'vitest'
import { startTestSandbox, type TestSandbox } from '../../../../sandbox/test/sandbox.ts'
import { injectWallet, type TestWallet, type WalletOptions } from './wallet.ts'
import { launchChromium, type Visit, type VisitOptions, visit } from './visits.ts'

type Account = TestSandbox['state']['accounts'][number]
type Options = Omit<VisitOptions, 'origin' | 'prepare'>

export interface ConsoleMarket {
  sandbox: TestSandbox
  origin: string
  /** A new browser profile with one page. */
  visit(options?: Options): Promise<Visit>
  /** The same, with a wallet. */
  visitWithWallet(
    account: Account,
    options?: Options & Pick<WalletOptions, 'startsOn'>,
  ): Promise<Visit & { wallet: TestWallet }>
  /** Closes what is open and fails when anything went wrong in it: after each test. */
  leave(): Promise<void>
  end(): Promise<void>
}

export async function startConsoleMarket(
  chromium: string,
  contents: 'demo' | 'small' = 'demo',
): Promise<ConsoleMarket> {
  const sandbox = await startTestSandbox(contents)
  const browser: Browser = await launchChromium(chromium)
  const { baseUrl: origin, rpcUrl, chainId } = sandbox.state
  const open: Visit[] = []
  const begin = async (options: VisitOptions): Promise<Visit> => {
    const begun = await visit(browser, options)
    open.push(begun)
    return begun
  }
  return {
    sandbox,
    origin,
    visit: (options = {}) => begin({ ...options, origin }),
    async visitWithWallet(account, { startsOn, ...options } = {}) {
      const { privateKey } = account
      let wallet: TestWallet | undefined
      const begun = await begin({
        ...options,
        origin,
        async prepare(context) {
          wallet = await injectWallet(context, {
            privateKey,
            rpcUrl,
            chainId,
            ...(startsOn !== undefined && { startsOn }),
          })
        },
      })
      return { ...begun, wallet: wallet as TestWallet }
    },
    async leave() {
      const left = open.splice(0)
      await Promise.all(left.map(({ close }) => close()))
      expect(left.flatMap(({ problems }) => problems)).toEqual([])
    },
    async end() {
      await browser.close()
      await sandbox.end()
    },
  }
}
