// Signing in with Ethereum, with a wallet of the browser and with an account of the sandbox.
import { expect, it } from 'vitest'
import { press } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { WALLET_NAME } from '../harness/wallet.ts'

/** Where whoever asks for their own page without a session is sent. */
export const TO_ME = /\/sign-in\?to=(%2F|\/)me$/

export function signingIn(market: () => ConsoleMarket): void {
  it('signs one message with a wallet, comes back to the page that asked, and leaves no token to scripts', async () => {
    const { sandbox, origin } = market()
    const { page, context, wallet } = await market().visitWithWallet(sandbox.account('buyer'))
    await page.goto('/me')
    await page.waitForURL(TO_ME)
    const main = page.getByRole('main')
    await main.getByRole('button', { name: WALLET_NAME }).click()
    await main.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${origin}/me`)
    await page.getByRole('button', { name: /^Signed in as / }).waitFor()
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

    await page.getByRole('button', { name: /^Signed in as/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL(`${origin}/`)
    await page.getByRole('link', { name: 'Sign in' }).waitFor()
    expect((await context.cookies()).filter(({ name }) => name === 'referrer')).toEqual([])
  })

  it('asks a wallet to change its chain, and says what to do when the person declines', async () => {
    const { page, wallet } = await market().visitWithWallet(market().sandbox.account('buyer'), {
      startsOn: 1,
    })
    await page.goto('/sign-in')
    const main = page.getByRole('main')
    await main.getByRole('button', { name: WALLET_NAME }).click()
    wallet.refuse(true)
    const change = main.getByRole('button', { name: /^Switch to/ })
    await change.click()
    await page.getByRole('alert').filter({ hasText: 'You declined in your wallet' }).waitFor()
    wallet.refuse(false)
    await change.click()
    const sign = main.getByRole('button', { name: 'Sign in' })
    await sign.waitFor()
    expect(wallet.chainId()).toBe(market().sandbox.state.chainId)
    wallet.refuse(true)
    await sign.click()
    await page.getByRole('alert').filter({ hasText: 'Nothing happened' }).waitFor()
    wallet.refuse(false)
    await sign.click()
    await page.waitForURL('**/me')
  })

  it('needs no wallet in a sandbox: its accounts are there to play with, by keyboard alone', async () => {
    const { page } = await market().visit()
    await page.goto('/sign-in')
    const main = page.getByRole('main')
    await press(page, main.getByRole('button', { name: /^Sandbox: .*buyer/i }).first())
    await press(page, main.getByRole('button', { name: 'Sign in' }))
    await page.waitForURL('**/me')
  })
}
