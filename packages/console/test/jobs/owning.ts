// What the owner of an agent does: the cashback rate, caps, queued purchases, a chat, sessions.
import { expect, it } from 'vitest'
import type { ConsoleMarket } from '../harness/market.ts'
import { arrive } from '../harness/visits.ts'
import { WALLET_NAME } from '../harness/wallet.ts'
import { TO_ME } from './signing-in.ts'

export function owning(market: () => ConsoleMarket): void {
  const get = async (path: string) => (await fetch(`${market().origin}${path}`)).json()

  it('signs the rate of its cashback, and not when it is too high', async () => {
    const owner = market().sandbox.account('reviewer')
    const { page, wallet } = await market().visitWithWallet(owner, { isSignedIn: true })
    await page.goto(`/me/agent/${owner.agentId}`)
    await page.getByRole('button', { name: 'Change the rate' }).click()
    await page.getByRole('button', { name: WALLET_NAME }).click()
    const share = page.getByRole('textbox', { name: 'Share of the commission, in percent' })
    await share.fill('41')
    const set = page.getByRole('button', { name: 'Sign and set' })
    await set.click()
    await page.getByText('Enter a share from 0 to 40').waitFor()
    await share.fill('12.5')
    await set.click()
    await page.getByText('Buyers get back 12.5 % of the commission').waitFor()
    expect(wallet.asked.map(({ method }) => method)).toEqual(['eth_requestAccounts', 'eth_signTypedData_v4'])
    expect(JSON.stringify(wallet.asked[1]?.params)).toContain('1250')
    await page.getByRole('button', { name: 'Change the rate' }).waitFor()
  })

  it('sets caps, and queues a purchase within them that it can withdraw', async () => {
    const { account } = market().sandbox
    const { page } = await market().visit({ as: account('buyer'), expected: /^404 \/v1\/spending-limits$/ })
    await page.goto('/me/spending')
    await page.getByRole('button', { name: /^(Set|Change the) caps$/ }).click()
    const single = page.getByRole('textbox', { name: 'For one purchase, in USDC' })
    await single.fill('much')
    await page.getByRole('button', { name: 'Save the caps' }).click()
    expect(await single.evaluate((field) => field === document.activeElement)).toBe(true)
    await single.fill('2.50')
    await page.getByRole('textbox', { name: 'For a day (UTC), in USDC' }).fill('7')
    await page.getByRole('textbox', { name: 'For all time, in USDC' }).fill('')
    await page.getByRole('button', { name: 'Save the caps' }).click()
    await page.getByText('The caps are set').waitFor()
    await page.getByRole('button', { name: 'Change the caps' }).waitFor()

    const { reviews } = await get('/v1/review?limit=1')
    await page.getByRole('textbox', { name: 'Ref link' }).fill(reviews[0].ref_link)
    await page.getByRole('textbox', { name: 'At most, in USDC' }).fill('1')
    await page.getByRole('button', { name: /^Queue for agent/ }).click()
    const pending = page.getByRole('listitem').filter({ hasText: 'pending' })
    await pending.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByRole('listitem').filter({ hasText: 'withdrawn' }).first().waitFor()
    await expect.poll(() => pending.count()).toBe(0)
  })

  it('links a chat with the code that the page shows, and unlinks it', async () => {
    const { sandbox } = market()
    const { page } = await market().visit({ as: sandbox.account('buyer') })
    await page.goto('/me/chat')
    await page.getByRole('button', { name: 'Link a chat' }).click()
    const code = await page.getByText(/^\/start [\w-]+$/).textContent()
    const said = await fetch(`${sandbox.state.chatUrl}/say`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ person: 'buyer', text: code }),
    })
    expect(said.ok).toBe(true)
    await page.getByRole('heading', { name: 'Linked' }).waitFor()
    await page.getByText('sandbox_buyer').waitFor()
    await page.getByRole('button', { name: 'Unlink', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink the chat' }).click()
    await page.getByRole('button', { name: 'Link a chat' }).waitFor()
  })

  it('closes another session, which is signed out then', async () => {
    const owner = market().sandbox.account('reviewer')
    const other = await market().visit({ as: owner })
    await arrive(other.page, '/me')
    const { page } = await market().visit({ as: owner })
    await page.goto('/me/sessions')
    await page.getByText('This one').waitFor()
    await page.getByRole('button', { name: 'Close all others' }).click()
    await page.getByText('All other sessions are closed').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Close', exact: true }).count()).toBe(0)
    await other.page.goto('/me')
    await other.page.waitForURL(TO_ME)
  })
}
