// A review whose transaction goes wrong in the wallet: it can always be gone on with, and is published once.
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { PATIENCE_MS } from '../../../../sandbox/test/sandbox.ts'
import { choose, press, type } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { arrive } from '../harness/visits.ts'
import { WALLET_NAME } from '../harness/wallet.ts'
import { purchase, UNTIL_READ } from './after-buying.ts'

export function publishing(market: () => ConsoleMarket): void {
  async function begin() {
    const escrowId = await purchase(market())
    const visit = await market().visitWithWallet(market().sandbox.account('buyer'), {
      isSignedIn: true,
      expected: UNTIL_READ,
    })
    const { page } = visit
    await arrive(page, `/me/purchase/${escrowId}`)
    await press(page, page.getByRole('button', { name: WALLET_NAME }))
    const votes = page.getByRole('form', { name: 'Votes' })
    await press(page, votes.getByRole('checkbox').first(), 'Space')
    await type(page, votes.getByRole('textbox').first(), 'It told the hour that mattered.')
    await press(page, votes.getByRole('button', { name: 'Sign and vote' }))
    return { ...visit, escrowId }
  }

  async function write(page: Page, description: string): Promise<void> {
    const form = page.getByRole('form', { name: 'Review' })
    await choose(page, form.getByRole('group', { name: 'Rating' }), 'Good')
    await type(page, form.getByRole('textbox', { name: 'What you found' }), description)
    for (const field of await form.getByRole('textbox').all()) {
      if ((await field.inputValue()) === '') await type(page, field, '1')
    }
    await type(page, form.getByRole('textbox', { name: 'Failures' }), '0')
    await press(page, form.getByRole('button', { name: 'Publish the review' }))
  }

  const goOn = (page: Page) => page.getByRole('button', { name: 'Go on with it' })
  const isDone = (page: Page) => page.getByRole('heading', { name: 'Review it (Done)' }).waitFor()
  const textOf = async (escrowId: number) => {
    const get = async (path: string) => (await fetch(`${market().origin}${path}`)).json()
    const { buyer_review } = await get(`/v1/escrow/${escrowId}`)
    return (await get(`/v1/review-internal/${buyer_review.internal_id}`)).content_json.description
  }

  it('sends a review again whose transaction got lost, after the page was closed', {
    timeout: PATIENCE_MS,
  }, async () => {
    const { page, wallet, escrowId } = await begin()
    wallet.sends('lost')
    await write(page, 'The sunset was right to the minute.')
    await page.getByText('The chain takes it …').waitFor()
    await page.reload()
    await page.getByText('Its transaction was sent').waitFor()
    await press(page, goOn(page))
    await page.getByRole('alert').filter({ hasText: 'does not know the transaction any more' }).waitFor()
    wallet.sends('as asked')
    await press(page, goOn(page))
    await isDone(page)
    expect(await textOf(escrowId)).toBe('The sunset was right to the minute.')
  })

  it('publishes the text that was mined, though the wallet never said that it had sent it', {
    timeout: PATIENCE_MS,
  }, async () => {
    const { page, wallet, escrowId } = await begin()
    wallet.sends('silent')
    await write(page, 'The sunrise was right, too.')
    const published = async () => wallet.asked.filter(({ method }) => method === 'eth_sendTransaction').length
    await expect.poll(published).toBe(1)
    await expect
      .poll(async () => (await (await fetch(`${market().origin}/v1/escrow/${escrowId}`)).json()).buyer_review)
      .toMatchObject({ on_chain_id: expect.any(Number) })
    await page.reload()
    await press(page, goOn(page))
    await isDone(page)
    expect(await published()).toBe(1)
    expect(await textOf(escrowId)).toBe('The sunrise was right, too.')
  })

  it('shows the form with its text again when the person declines', { timeout: PATIENCE_MS }, async () => {
    const { page, wallet } = await begin()
    await page.getByRole('form', { name: 'Review' }).waitFor()
    wallet.refuse(true)
    await write(page, 'It is right on most days.')
    await page.getByRole('alert').filter({ hasText: 'You declined in your wallet' }).waitFor()
    await expect
      .poll(() => page.getByRole('textbox', { name: 'What you found' }).inputValue())
      .toBe('It is right on most days.')
    expect(await goOn(page).count()).toBe(0)
  })
}
