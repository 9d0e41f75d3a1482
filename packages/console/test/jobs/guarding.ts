// What the operator does against rings: verifies shops, looks at suspicions, flags or dismisses.
import { expect, it } from 'vitest'
import { hasFocus, press, reach, type } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { suspectRing } from '../harness/suspicion.ts'
import { arrive } from '../harness/visits.ts'

export function guarding(market: () => ConsoleMarket): void {
  const decisions = async (): Promise<{ merchant_id: number; is_verified: boolean; note: string }[]> =>
    (await (await fetch(`${market().origin}/v1/standing/verifications`)).json()).verifications

  it('verifies a shop with a note that everybody can read, and takes it back', async () => {
    const { merchantId } = market().sandbox.account('merchant')
    const { page } = await market().visit({ as: market().sandbox.account('admin') })
    await arrive(page, '/operator/shops')
    const find = page.getByRole('form', { name: 'Find a shop' })
    await type(page, find.getByRole('textbox', { name: 'Number of a shop' }), String(merchantId))
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.case').count()).toBe(1)
    const shop = page.getByRole('region', { name: `Shop ${merchantId}`, exact: true })
    await press(page, shop.getByRole('button', { name: `Verify… shop ${merchantId}` }))
    const form = shop.getByRole('form', { name: `Verify shop ${merchantId}` })
    const note = form.getByRole('textbox', { name: 'Why' })
    await press(page, form.getByRole('button', { name: `Verify shop ${merchantId}` }))
    await form.getByText('Say why.').waitFor()
    await hasFocus(note)
    await type(page, note, 'We met its owner and bought there.')
    await page.keyboard.press('Enter')
    await page.getByText(`Shop ${merchantId} is verified`, { exact: true }).waitFor()
    await shop.getByText('We met its owner and bought there.').waitFor()
    const withdraw = shop.getByRole('button', { name: `Withdraw… shop ${merchantId}` })
    await withdraw.waitFor()
    expect(await decisions()).toMatchObject([{ merchant_id: merchantId, is_verified: true }])

    await press(page, page.getByRole('link', { name: 'Not verified', exact: true }))
    await expect.poll(() => shop.count()).toBe(0)
    await press(page, page.getByRole('link', { name: 'Verified', exact: true }))
    await press(page, withdraw)
    await type(page, shop.getByRole('textbox', { name: 'Why' }), 'It has closed.')
    await page.keyboard.press('Enter')
    await page.getByText(`Shop ${merchantId} is not verified any more`).waitFor()
    await page.getByText('No such shop is open').waitFor()
    expect((await decisions()).map(({ note }) => note)).toEqual([
      'We met its owner and bought there.',
      'It has closed.',
    ])
  })

  it('looks at a suspected ring, goes to flag one of its agents, and dismisses the suspicion', async () => {
    const ringId = await suspectRing(market().sandbox)
    const { page } = await market().visit({ as: market().sandbox.account('admin') })
    await arrive(page, '/operator/rings')
    await press(page, page.getByRole('link', { name: `Ring ${ringId}`, exact: true }))
    await page.getByRole('img', { name: /^Members in a circle/ }).waitFor()
    await press(page, page.locator('summary', { hasText: 'In words' }))
    await page
      .getByText(/voted for \d+\. 0x/)
      .first()
      .waitFor()
    await page.getByRole('heading', { name: 'Votes', exact: true }).waitFor()

    const flag = page.getByRole('link', { name: /^Flag… agent \d+$/ }).first()
    const agentId = (await flag.getAttribute('aria-label'))?.split(' ').at(-1)
    await press(page, flag)
    const agent = page.getByRole('form', { name: 'Flag an agent' }).getByRole('textbox', { name: 'Agent' })
    await expect.poll(() => agent.inputValue()).toBe(agentId)
    await page.goBack()

    await press(page, page.getByRole('button', { name: `Dismiss… ring ${ringId}` }))
    const form = page.getByRole('form', { name: `Dismiss ring ${ringId}` })
    await type(page, form.getByRole('textbox', { name: 'Why' }), 'They are the testers of the market.')
    await page.keyboard.press('Enter')
    await page.getByText(`Ring ${ringId} is dismissed`).waitFor()
    await page.getByText('They are the testers of the market.').waitFor()
    await expect.poll(() => form.count()).toBe(0)
    await press(page, page.getByRole('link', { name: 'All rings' }))
    await reach(page, page.getByRole('link', { name: `Ring ${ringId}`, exact: true }))
  })
}
