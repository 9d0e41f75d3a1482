// What the operator decides: proofs, a dispute, flags; and the checklists that it writes.
import { expect, it } from 'vitest'
import { ask } from '../../../../sandbox/test/purchase.ts'
import { hasFocus, press, reach, step, type } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { arrive } from '../harness/visits.ts'

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

  it('approves a proof and rejects another with a reason', async () => {
    const [good, bad] = [await submitProof(0), await submitProof(1)]
    const { page } = await market().visit({ as: market().sandbox.account('admin') })
    await arrive(page, '/operator/proofs')
    const approve = page.getByRole('button', { name: `Approve proof ${good}` })
    await approve.waitFor()
    // From case to case.
    await step(page, page.getByRole('region', { name: `Proof ${good}`, exact: true }), 'j')
    await press(page, approve)
    await page.getByText(`Proof ${good} is approved`).waitFor()
    await press(page, page.getByRole('button', { name: `Reject… proof ${bad}` }))
    const form = page.getByRole('form', { name: `Reject proof ${bad}` })
    await press(page, form.getByRole('button', { name: `Reject proof ${bad}` }))
    await form.getByText('Say why').waitFor()
    await type(page, form.getByRole('textbox', { name: 'Why' }), 'The invoice names no product.')
    await page.keyboard.press('Enter')
    await page.getByText(`Proof ${bad} is rejected`).waitFor()
    await expect.poll(() => page.getByRole('region', { name: `Proof ${bad}`, exact: true }).count()).toBe(0)
    await press(page, page.getByRole('link', { name: 'rejected' }))
    await page.getByText('The invoice names no product.').first().waitFor()
  })

  it('resolves the dispute of the demo market with both sides before its eyes', async () => {
    const { page } = await market().visit({ as: market().sandbox.account('admin') })
    await arrive(page, '/operator/disputes')
    const form = page.getByRole('form', { name: /^Resolve the dispute about review/ })
    await page.getByRole('heading', { name: 'The author' }).waitFor()
    await page.getByRole('heading', { name: /^\d+ buyers?$/ }).waitFor()
    await press(page, page.locator('summary', { hasText: 'What it says' }).first())
    await type(page, form.getByRole('textbox', { name: 'Note' }), 'The measurements are of another day.')
    await press(page, form.getByRole('button', { name: 'The author is right' }))
    await page.getByText(/^The dispute about review \d+ is resolved$/).waitFor()
    await expect.poll(() => form.count()).toBe(0)
    await reach(page, page.getByRole('link', { name: 'Checklists' }))
  })

  it('flags an agent after it was asked, and takes the flag back', async () => {
    const { agentId } = market().sandbox.account('buyer')
    const { page } = await market().visit({ as: market().sandbox.account('admin') })
    await arrive(page, '/operator/agents')
    const form = page.getByRole('form', { name: 'Flag an agent' })
    const agent = form.getByRole('textbox', { name: 'Agent' })
    const dialog = page.getByRole('dialog')
    await type(page, agent, String(agentId))
    await page.keyboard.press('Enter')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => dialog.count()).toBe(0)
    await hasFocus(agent)
    await press(page, form.getByRole('button', { name: 'Flag…' }))
    await press(page, dialog.getByRole('button', { name: `Flag agent ${agentId}` }))
    const back = page.getByRole('button', { name: `Take it back: the flag of agent ${agentId}` })
    await press(page, back)
    await page.getByText(`Agent ${agentId} is not flagged any more`).waitFor()
    await expect.poll(() => back.count()).toBe(0)
    await reach(page, agent)
  })

  it('writes a checklist that buyers of the category find, changes it, and removes it after it was asked', async () => {
    const { page } = await market().visit({ as: market().sandbox.account('admin') })
    const told = async (): Promise<string[] | undefined> => {
      const response = await fetch(`${market().origin}/v1/discover?intent=when+does+the+sun+set&category=api`)
      // A client may search five times a second: what is refused has no checklists, either.
      if (!response.ok) throw new Error(`refused: ${response.status}`)
      return (await response.json()).checklists?.api
    }
    await arrive(page, '/operator/checklists')
    const form = page.getByRole('form', { name: 'Write a checklist' })
    const category = form.getByRole('textbox', { name: 'Category' })
    const items = form.getByRole('textbox', { name: 'Items' })
    const write = form.getByRole('button', { name: 'Write the checklist' })
    await press(page, write)
    await form.getByText('Name the category as its products do.').waitFor()
    await hasFocus(category)
    await type(page, category, 'api')
    await type(page, items, 'Does it say how old its data is?')
    await page.keyboard.press('Enter')
    await page.keyboard.insertText('Does it answer within a second?')
    await press(page, write)
    await page.getByText('The checklist of api is written').waitFor()
    await expect.poll(told).toEqual(['Does it say how old its data is?', 'Does it answer within a second?'])

    await press(page, page.getByRole('button', { name: 'Change the checklist of api' }))
    await expect.poll(() => category.inputValue()).toBe('api')
    await type(page, items, 'Does it answer within a second?')
    await press(page, write)
    await expect.poll(told).toEqual(['Does it answer within a second?'])

    const remove = page.getByRole('button', { name: 'Remove… the checklist of api' })
    await press(page, remove)
    const dialog = page.getByRole('dialog')
    await press(page, dialog.getByRole('button', { name: 'Keep it' }))
    await expect.poll(() => dialog.count()).toBe(0)
    await hasFocus(remove)
    await press(page, remove)
    await press(page, dialog.getByRole('button', { name: 'Remove it' }))
    await expect.poll(() => remove.count()).toBe(0)
    await expect.poll(told).toBeUndefined()
    await reach(page, category)
  })

  it('is told which account it needs when it is not an operator', async () => {
    const { page } = await market().visit({ as: market().sandbox.account('buyer') })
    await arrive(page, '/operator/proofs')
    await page.getByText('Sign in with an account of the setting').waitFor()
    expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0)
  })
}
