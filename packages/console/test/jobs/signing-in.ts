// Signing in with Ethereum, with a wallet of the browser and with an account of the sandbox; the account's menu.
import { expect, it } from 'vitest'
import { hasFocus, press, reach, step } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { arrive } from '../harness/visits.ts'
import { WALLET_NAME } from '../harness/wallet.ts'

/** Where whoever asks for their own page without a session is sent. */
export const TO_ME = /\/sign-in\?to=(%2F|\/)me$/

export function signingIn(market: () => ConsoleMarket): void {
  it('signs one message with a wallet, comes back to the page that asked, leaves no token to scripts, and signs out', async () => {
    const { sandbox, origin } = market()
    const { page, context, wallet } = await market().visitWithWallet(sandbox.account('buyer'))
    await page.goto('/me')
    await page.waitForURL(TO_ME)
    const main = page.getByRole('main')
    await press(page, main.getByRole('button', { name: WALLET_NAME }))
    await press(page, main.getByRole('button', { name: 'Sign in' }))
    await page.waitForURL(`${origin}/me`)
    const account = page.getByRole('button', { name: /^Signed in as / })
    await account.waitFor()
    expect(wallet.asked.map(({ method }) => method)).toEqual(['eth_requestAccounts', 'personal_sign'])
    const signed = Buffer.from(String(wallet.asked[1]?.params[0]).slice(2), 'hex').toString()
    expect(signed).toContain(`${new URL(origin).host} wants you to sign in`)
    expect(signed).toContain(wallet.account.address)

    const cookies = await context.cookies()
    expect(cookies.filter(({ name }) => name === 'referrer')).toEqual([
      expect.objectContaining({ httpOnly: true, sameSite: 'Strict', path: '/' }),
    ])
    expect(await page.evaluate(() => document.cookie + JSON.stringify({ ...localStorage }))).not.toContain(
      cookies.find(({ name }) => name === 'referrer')?.value,
    )

    await press(page, account)
    await step(page, page.getByRole('menuitem', { name: 'Spending' }))
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('menu').count()).toBe(0)
    await hasFocus(account)
    await press(page, account, 'ArrowDown')
    await step(page, page.getByRole('menuitem', { name: 'My purchases' }))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'My purchases' }).waitFor()
    await press(page, account)
    await step(page, page.getByRole('menuitem', { name: 'Sign out' }), 'ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}/`)
    await page.getByRole('link', { name: 'Sign in' }).waitFor()
    expect((await context.cookies()).filter(({ name }) => name === 'referrer')).toEqual([])
  })

  it('asks a wallet to change its chain, and says what to do when the person declines', async () => {
    const { page, wallet } = await market().visitWithWallet(market().sandbox.account('buyer'), {
      startsOn: 1,
    })
    await arrive(page, '/sign-in')
    const main = page.getByRole('main')
    await press(page, main.getByRole('button', { name: WALLET_NAME }))
    const change = main.getByRole('button', { name: /^Switch to/ })
    await reach(page, change)
    wallet.refuse(true)
    await press(page, change)
    await page.getByRole('alert').filter({ hasText: 'You declined in your wallet' }).waitFor()
    wallet.refuse(false)
    await press(page, change)
    const sign = main.getByRole('button', { name: 'Sign in' })
    await sign.waitFor()
    expect(wallet.chainId()).toBe(market().sandbox.state.chainId)
    wallet.refuse(true)
    await press(page, sign)
    await page.getByRole('alert').filter({ hasText: 'Nothing happened' }).waitFor()
    wallet.refuse(false)
    await press(page, sign)
    await page.waitForURL('**/me')
  })

  it('needs no wallet in a sandbox: its accounts are there to play with', async () => {
    const { page } = await market().visit()
    await arrive(page, '/sign-in')
    const main = page.getByRole('main')
    await press(page, main.getByRole('button', { name: /^Sandbox: .*buyer/i }).first())
    await press(page, main.getByRole('button', { name: 'Sign in' }))
    await page.waitForURL('**/me')
  })
}
