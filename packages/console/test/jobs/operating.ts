// What the operator decides: proofs by keyboard alone, a dispute, and flags.
import { expect, it } from 'vitest'
import { ask } from '../../../../sandbox/test/purchase.ts'
import { press, type } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'

export function operating(market: () => ConsoleMarket): void {
  /** A proof of an agent that waits. */
  async function submitProof(at: number): Promise<number> {
    const { sandbox } = market()
    const product = sandbox.state.products[at]
    const { proof_id } = await ask<{ proof_id: number }>(sandbox, 'reviewer', '/v1/proof', {
      agent_id: sandbox.account('reviewer').agentId,
      merchant_id: product?.merchantId,
      product_id: product?.productId,
      proof_data: { invoice: 'https://shop.example/invoice/1' },
    })
    expect(proof_id).toEqual(expect.any(Number))
    return proof_id
  }

  it('approves a proof and rejects another with a reason, by keyboard alone', async () => {
    const [good, bad] = [await submitProof(0), await submitProof(1)]
    const { page } = await market().visit({ as: market().sandbox.account('admin') })
    await page.goto('/operator/proofs')
    await press(page, page.getByRole('button', { name: `Approve proof ${good}` }))
    await page.getByText(`Proof ${good} is approved`).waitFor()
    await press(page, page.getByRole('button', { name: `Reject… proof ${bad}` }))
    const form = page.getByRole('form', { name: `Reject proof ${bad}` })
    await press(page, form.getByRole('button', { name: `Reject proof ${bad}` }))
    await form.getByText('Say why').waitFor()
    await type(page, form.getByRole('textbox', { name: 'Why' }), 'The invoice names no product.')
    await page.keyboard.press('Enter')
    await page.getByText(`Proof ${bad} is rejected`).waitFor()
    await expect.poll(() => page.getByRole('region', { name: `Proof ${bad}` }).count()).toBe(0)
  })

  it('resolves the dispute of the demo market with both sides before its eyes', async () => {
    const { page } = await market().visit({ as: market().sandbox.account('admin') })
    await page.goto('/operator/disputes')
    const form = page.getByRole('form', { name: /^Resolve the dispute about review/ })
    await page.getByRole('heading', { name: 'The author' }).waitFor()
    await page.getByRole('heading', { name: /^\d+ buyers?$/ }).waitFor()
    await form.getByRole('textbox', { name: 'Note' }).fill('The measurements are of another day.')
    await form.getByRole('button', { name: 'The author is right' }).click()
    await page.getByText(/^The dispute about review \d+ is resolved$/).waitFor()
    await expect.poll(() => form.count()).toBe(0)
  })

  it('flags an agent after it was asked, and takes the flag back', async () => {
    const { agentId } = market().sandbox.account('buyer')
    const { page } = await market().visit({ as: market().sandbox.account('admin') })
    await page.goto('/operator/agents')
    const form = page.getByRole('form', { name: 'Flag an agent' })
    await form.getByRole('textbox', { name: 'Agent' }).fill(String(agentId))
    await form.getByRole('button', { name: 'Flag…' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Flag agent ${agentId}` })
      .click()
    const back = page.getByRole('button', { name: `Take it back: the flag of agent ${agentId}` })
    await back.click()
    await page.getByText(`Agent ${agentId} is not flagged any more`).waitFor()
    await expect.poll(() => back.count()).toBe(0)
  })

  it('is told which account it needs when it is not an operator', async () => {
    const { page } = await market().visit({ as: market().sandbox.account('buyer') })
    await page.goto('/operator/proofs')
    await page.getByText('Sign in with an account of the setting').waitFor()
    expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0)
  })
}
