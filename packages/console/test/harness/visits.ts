// Pages in Chromium that tell everything that went wrong in them.
import { setTimeout } from 'node:timers/promises'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { withoutPointer } from './without-pointer.ts'

export interface Visit {
  /** For the keyboard alone. */
  page: Page
  context: BrowserContext
  /** What no page of ours may do: errors and warnings on the console, exceptions, other origins, dialogs. */
  problems: string[]
  close(): Promise<void>
}

export interface VisitOptions {
  /** Requests to other origins are problems. */
  origin: string
  isPhone?: boolean
  isDark?: boolean
  withoutScripts?: boolean
  /** Failing answers that the test provokes: `401 /v1/vote`. */
  expected?: RegExp
  /** What has to be there before the first page is opened. */
  prepare?: (context: BrowserContext) => Promise<void>
}

export const DESKTOP = { width: 1280, height: 800 }
export const PHONE = { width: 390, height: 844 }

export function launchChromium(executablePath: string): Promise<Browser> {
  // Chromium's own sandbox does not work for root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({
    executablePath,
    args: [...args, '--disable-dev-shm-usage'],
    timeout: 2 * PATIENCE_MS,
  })
}

/** On a busy machine a page takes many seconds. */
const PATIENCE_MS = 50_000

export async function visit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const { origin, isPhone = false, isDark = false, withoutScripts = false, expected, prepare } = options
  const context = await browser.newContext({
    baseURL: origin,
    viewport: isPhone ? PHONE : DESKTOP,
    colorScheme: isDark ? 'dark' : 'light',
    javaScriptEnabled: !withoutScripts,
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(PATIENCE_MS)
  await prepare?.(context)
  const problems: string[] = []
  const underWay = new Set<Request>()
  context.on('request', (request) => underWay.add(request))
  context.on('requestfinished', (request) => underWay.delete(request))
  context.on('requestfailed', (request) => underWay.delete(request))
  context.on('response', (response) => {
    const { pathname } = new URL(response.url())
    const failure = `${response.status()} ${pathname}`
    if (response.status() >= 400 && !expected?.test(failure)) problems.push(`answer: ${failure}`)
  })
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (/^https?:$/.test(url.protocol) && url.origin !== origin) problems.push(`request: ${url.href}`)
  })
  context.on('console', (message) => {
    if (!/^(error|warning)$/.test(message.type())) return
    // The answer itself was looked at above.
    if (/^Failed to load resource: the server responded with a status/.test(message.text())) return
    problems.push(`console: ${message.text()}`)
  })
  context.on('weberror', (error) => problems.push(`exception: ${error.error().message}`))
  const page = await context.newPage()
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  const guarded = withoutPointer(page)
  requestsOf.set(guarded, underWay)
  return { page: guarded, context, problems, close: () => context.close() }
}

/** What the pages have asked for and not got yet. */
const requestsOf = new WeakMap<Page, Set<Request>>()
const PAUSE_MS = 10

/** Opens a page and waits until it has come to rest: it runs, shows what it has asked for, and asks for nothing more. */
export async function arrive(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.waitForFunction(() => {
    const app = document.getElementById('app')
    const isRunning = Object.keys(app ?? {}).some((key) => key.startsWith('__reactContainer$'))
    return isRunning && document.querySelector('h1') && !document.querySelector('.skeleton')
  })
  const underWay = requestsOf.get(page)
  do {
    while (underWay?.size) await setTimeout(PAUSE_MS)
    // An answer that is shown may lead to the next question.
    await page.evaluate(shownTwice)
  } while (underWay?.size)
}

/** Runs in the page. */
const shownTwice = () =>
  new Promise<void>((resolve) =>
    requestAnimationFrame(() => requestAnimationFrame(() => globalThis.setTimeout(resolve))),
  )
