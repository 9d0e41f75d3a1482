// The sandbox with its demo market and a Chromium to visit it: one of each for all browser tests.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { inDatabase, startTestSandbox, type TestSandbox } from '../../../../sandbox/test/sandbox.ts'
import type { Account } from './places.ts'
import { signIn } from './sign-in.ts'
import { launchChromium, type Visit, type VisitOptions, visit } from './visits.ts'
import { injectWallet, type TestWallet, type WalletOptions } from './wallet.ts'

type Options = Omit<VisitOptions, 'origin' | 'prepare'>

export type RunningSandbox = Pick<TestSandbox, 'state' | 'account' | 'directory' | 'end'>

export interface ConsoleMarket {
  sandbox: RunningSandbox
  browser: Browser
  origin: string
  /** A new browser profile with one page; signed in as somebody, if they are named. One that is kept is closed by whoever opened it. */
  visit(options?: Options & { as?: Account | undefined; isKept?: boolean }): Promise<Visit>
  /** A profile with a wallet. */
  visitWithWallet(
    account: Pick<Account, 'privateKey'>,
    options?: Options & Pick<WalletOptions, 'startsOn'> & { isSignedIn?: boolean },
  ): Promise<Visit & { wallet: TestWallet }>
  /** Closes what is open and tells what went wrong in it: after each test. */
  leave(): Promise<string[]>
  end(): Promise<void>
}

/** The demo market takes half a minute to start: with CONSOLE_SANDBOX tests use one that runs, named by the directory of its state. */
async function sandboxOf(env: NodeJS.ProcessEnv): Promise<RunningSandbox> {
  const directory = env.CONSOLE_SANDBOX
  if (!directory) return startTestSandbox('demo')
  const state: TestSandbox['state'] = JSON.parse(readFileSync(join(directory, 'state.json'), 'utf8'))
  return {
    directory,
    state,
    account(role) {
      const found = state.accounts.find((entry) => entry.role === role)
      if (!found) throw new Error(`no account plays ${role}`)
      return found
    },
    end: async () => {},
  }
}

/** Until the last text has its vector, the order of what is found changes. */
const allEmbedded = (sandbox: RunningSandbox): Promise<void> =>
  inDatabase(sandbox, async (sql) => {
    while ((await sql`SELECT FROM market.texts_to_embed LIMIT 1`).length > 0) await setTimeout(200)
  })

export async function startConsoleMarket(chromium: string): Promise<ConsoleMarket> {
  // The browser ends with this process, also when no market comes up; a sandbox does not.
  const browser = await launchChromium(chromium)
  const sandbox = await sandboxOf(process.env)
  await allEmbedded(sandbox)
  const { baseUrl: origin, rpcUrl, chainId } = sandbox.state
  const open: Visit[] = []
  const begin = async (options: VisitOptions): Promise<Visit> => {
    const begun = await visit(browser, options)
    open.push(begun)
    return begun
  }
  return {
    sandbox,
    browser,
    origin,
    async visit({ as, isKept = false, ...options } = {}) {
      const begun = await (isKept ? visit(browser, { ...options, origin }) : begin({ ...options, origin }))
      if (as) await signIn(begun.context, { origin, chainId, privateKey: as.privateKey })
      return begun
    },
    async visitWithWallet({ privateKey }, { startsOn = chainId, isSignedIn = false, ...options } = {}) {
      let wallet: TestWallet | undefined
      const begun = await begin({
        ...options,
        origin,
        async prepare(context) {
          wallet = await injectWallet(context, { privateKey, rpcUrl, chainId, startsOn })
        },
      })
      if (isSignedIn) await signIn(begun.context, { origin, chainId, privateKey })
      return { ...begun, wallet: wallet as TestWallet }
    },
    async leave() {
      const left = open.splice(0)
      await Promise.all(left.map(({ close }) => close()))
      return left.flatMap(({ problems }) => problems)
    },
    async end() {
      await browser.close()
      await sandbox.end()
    },
  }
}
