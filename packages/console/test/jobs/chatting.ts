// Linking a chat, from the console and from the chat, and unlinking it.
import { expect, it } from 'vitest'
import { linkFromBot, say } from '../harness/bot.ts'
import { hasFocus, press, reach } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { arrive } from '../harness/visits.ts'

export function chatting(market: () => ConsoleMarket): void {
  it('links a chat with the code that the page shows, and unlinks it after it was asked', async () => {
    const { sandbox } = market()
    const { page } = await market().visit({ as: sandbox.account('buyer') })
    await arrive(page, '/me/chat')
    await press(page, page.getByRole('button', { name: 'Link a chat' }))
    await reach(page, page.getByRole('link', { name: 'open the chat' }))
    const code = await page.getByText(/^\/start [\w-]+$/).textContent()
    await say(sandbox, 'buyer', code ?? '')
    await page.getByRole('heading', { name: 'Linked' }).waitFor()
    await page.getByText('sandbox_buyer').waitFor()

    const unlink = page.getByRole('button', { name: 'Unlink', exact: true })
    const dialog = page.getByRole('dialog')
    await press(page, unlink)
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => dialog.count()).toBe(0)
    await hasFocus(unlink)
    await press(page, unlink)
    await press(page, dialog.getByRole('button', { name: 'Unlink the chat' }))
    await reach(page, page.getByRole('button', { name: 'Link a chat' }))
  })

  it('confirms a link that it asked the bot for', async () => {
    const { sandbox } = market()
    await say(sandbox, 'reviewer', '/start')
    const { pathname, search } = await linkFromBot(sandbox, 'reviewer')
    const { page } = await market().visit({ as: sandbox.account('reviewer') })
    await arrive(page, pathname + search)
    await press(page, page.getByRole('button', { name: 'Link this chat' }))
    await page.getByText('sandbox_reviewer').waitFor()
    await press(page, page.getByRole('link', { name: 'See the link' }))
    await page.getByRole('heading', { name: 'Linked' }).waitFor()
    await press(page, page.getByRole('button', { name: 'Unlink', exact: true }))
    await press(page, page.getByRole('dialog').getByRole('button', { name: 'Unlink the chat' }))
    await reach(page, page.getByRole('button', { name: 'Link a chat' }))
  })
}
