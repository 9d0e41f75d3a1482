// What a buyer does with a purchase: votes, reviews, and gets the cashback.
import { expect, it } from 'vitest'
import { type Review, reviewsOf } from '../../../../sandbox/test/links.ts'
import { buy } from '../../../../sandbox/test/purchase.ts'
import { PATIENCE_MS } from '../../../../sandbox/test/sandbox.ts'
import { choose, hasFocus, press, reach, type } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { arrive } from '../harness/visits.ts'
import { WALLET_NAME } from '../harness/wallet.ts'

/** The market is told of the review until it has read its block. */
export const UNTIL_READ = /^404 \/v1\/review\/register$/

/** By the stock client, through a review whose author gives a part of the commission back. */
export async function purchase({ sandbox, origin }: ConsoleMarket): Promise<number> {
  const { agentId } = sandbox.account('reviewer')
  const reviews = (await reviewsOf(sandbox)) as (Review & { agent_id: number })[]
  const product = sandbox.state.products.find(({ endpointUrl }) => endpointUrl.endsWith('/daylight'))
  const link = reviews.find(
    ({ agent_id, product_id }) => agent_id === agentId && product_id === product?.productId,
  )?.ref_link
  if (!link) throw new Error('the reviewer has not reviewed the daylight')
  const { response, body } = await buy(sandbox, { role: 'buyer', link, query: '?city=Tokyo' })
  expect([response.status, body]).toEqual([200, expect.anything()])
  const find = async () => {
    const { purchases } = await (await fetch(`${origin}/v1/activity?limit=20`)).json()
    return purchases.find(({ transaction }: { transaction: string }) => transaction === body.transaction)
  }
  await expect.poll(find).toBeDefined()
  return (await find()).escrow_id
}

export function afterBuying(market: () => ConsoleMarket): void {
  it('votes, publishes a review, and is paid the cashback', { timeout: PATIENCE_MS }, async () => {
    const escrowId = await purchase(market())
    const { page, wallet } = await market().visitWithWallet(market().sandbox.account('buyer'), {
      isSignedIn: true,
      expected: UNTIL_READ,
    })
    await arrive(page, '/me/purchases')
    await press(page, page.locator(`a[href="/me/purchase/${escrowId}"]`).first())
    await press(page, page.getByRole('button', { name: WALLET_NAME }))
    const votes = page.getByRole('form', { name: 'Votes' })
    await press(page, votes.getByRole('button', { name: 'Sign and vote' }))
    await page.getByText('Choose at least one review.').waitFor()
    await press(page, votes.getByRole('checkbox').first(), 'Space')
    await type(page, votes.getByRole('textbox').first(), 'It told the hour that mattered.')
    await press(page, votes.getByRole('button', { name: 'Sign and vote' }))

    const form = page.getByRole('form', { name: 'Review' })
    const publish = form.getByRole('button', { name: 'Publish the review' })
    await choose(page, form.getByRole('group', { name: 'Rating' }), 'Good')
    await press(page, publish)
    const description = form.getByRole('textbox', { name: 'What you found' })
    await hasFocus(description)
    await type(page, description, 'The sunset was right to the minute, on three days and in three cities.')
    for (const field of await form.getByRole('textbox').all()) {
      if ((await field.inputValue()) === '') await type(page, field, '1')
    }
    await press(page, publish)
    await page.getByRole('alert').filter({ hasText: 'calls = successes + failures does not hold' }).waitFor()
    await type(page, form.getByRole('textbox', { name: 'Failures' }), '0')
    await press(page, publish)
    await page.getByRole('heading', { name: 'Review it (Done)' }).waitFor()
    await page
      .getByText(/are on their way|were paid/)
      .first()
      .waitFor()
    await page.getByRole('heading', { name: 'Get the cashback (Done)' }).waitFor()
    await reach(page, page.getByRole('link', { name: 'your agent’s page' }))

    expect(wallet.asked.map(({ method }) => method)).toEqual([
      'eth_requestAccounts',
      'eth_signTypedData_v4',
      'eth_sendTransaction',
    ])
    const escrow = await (await fetch(`${market().origin}/v1/escrow/${escrowId}`)).json()
    expect(escrow).toMatchObject({
      votes: [{ reasoning: 'It told the hour that mattered.' }],
      buyer_review: { published_at: expect.any(String) },
      cashback: { status: 'released' },
    })
  })
}
