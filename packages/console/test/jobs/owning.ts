// What the owner of an agent does: registers it, the cashback rate, caps, queued purchases, proofs, sessions.
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import { createPublicClient, createWalletClient, http } from 'viem'
import { expect, it } from 'vitest'
import { linkTo } from '../../../../sandbox/test/links.ts'
import { buy } from '../../../../sandbox/test/purchase.ts'
import { PATIENCE_MS } from '../../../../sandbox/test/sandbox.ts'
import { hasFocus, press, reach, select, step, type } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { arrive } from '../harness/visits.ts'
import { WALLET_NAME } from '../harness/wallet.ts'
import { TO_ME } from './signing-in.ts'

export function owning(market: () => ConsoleMarket): void {
  const get = async (path: string) => (await fetch(`${market().origin}${path}`)).json()

  it('mints an identity, registers it, and gives it a purchase that the wallet has made', {
    timeout: PATIENCE_MS,
  }, async () => {
    const { sandbox } = market()
    const { page, wallet } = await market().visitWithWallet(sandbox.account('walletBuyer'), {
      isSignedIn: true,
    })
    await arrive(page, '/me')
    const open = page.getByRole('button', { name: 'Register an agent' })
    await press(page, open)
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => dialog.count()).toBe(0)
    await hasFocus(open)

    await press(page, open)
    await reach(page, dialog.getByRole('tab', { name: 'A new one' }))
    await step(page, dialog.getByRole('tab', { name: 'One that I have' }), 'ArrowRight')
    await page.keyboard.press('Enter')
    await type(page, dialog.getByRole('textbox', { name: 'Identity number' }), 'seven')
    await page.keyboard.press('Enter')
    await dialog.getByText('Enter the number of the identity').waitFor()
    await reach(page, dialog.getByRole('tab', { name: 'One that I have' }))
    await step(page, dialog.getByRole('tab', { name: 'A new one' }), 'ArrowLeft')
    await page.keyboard.press('Enter')
    await press(page, dialog.getByRole('button', { name: WALLET_NAME }))
    await press(page, dialog.getByRole('button', { name: 'Mint and register' }))
    await page.getByText(/^Agent \d+ is registered$/).waitFor()
    const { agents } = await get(`/v1/agent?owner=${wallet.account.address}`)
    const agentId = agents[0].agent_id
    await press(page, page.getByRole('main').getByRole('link', { name: `Agent ${agentId}` }))
    await page.waitForURL(`**/me/agent/${agentId}`)

    const link = await linkTo(sandbox, '/daylight')
    const { body } = await buy(sandbox, { role: 'walletBuyer', link, query: '?city=Tokyo' })
    const find = async () =>
      (await get('/v1/activity?limit=20')).purchases.find(
        ({ transaction }: { transaction: string }) => transaction === body.transaction,
      )
    await expect.poll(find).toBeDefined()
    const { escrow_id } = await find()
    await press(page, page.getByRole('link', { name: 'Purchases' }).first())
    await press(page, page.locator(`a[href="/me/purchase/${escrow_id}"]`).first())
    await press(page, page.getByRole('button', { name: `Give it to agent ${agentId}` }))
    await page.getByText(`The purchase belongs to agent ${agentId}`).waitFor()
    await reach(page, page.getByRole('form', { name: 'Votes' }).getByRole('checkbox').first())
    expect(await find()).toMatchObject({ buyer_agent_id: agentId })
    expect(wallet.asked.map(({ method }) => method)).toEqual([
      'eth_requestAccounts',
      'eth_sendTransaction',
      'eth_sendTransaction',
    ])
  })

  it('takes back a transfer of the wrong amount', { timeout: PATIENCE_MS }, async () => {
    const { sandbox } = market()
    const { rpcUrl, contracts } = sandbox.state
    const { page, wallet } = await market().visitWithWallet(sandbox.account('walletBuyer'), {
      isSignedIn: true,
    })
    const { account } = wallet
    const reads = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 })
    const usdc = { address: contracts.USDC, abi: sandboxUSDCAbi } as const
    const balance = () => reads.readContract({ ...usdc, functionName: 'balanceOf', args: [account.address] })
    const before = await balance()
    const hash = await createWalletClient({ account, transport: http(rpcUrl) }).writeContract({
      ...usdc,
      functionName: 'transfer',
      args: [contracts.SplitRouter, 12_345n],
      chain: null,
    })
    await reads.waitForTransactionReceipt({ hash })
    await arrive(page, '/me/purchases')
    await press(page, page.getByRole('button', { name: 'Look for a transfer' }))
    await press(page, page.getByRole('button', { name: WALLET_NAME }))
    const ask = page.getByRole('button', { name: 'Sign and ask' })
    await press(page, ask)
    await page.getByText('Enter the hash').waitFor()
    await type(page, page.getByRole('textbox', { name: 'Transaction of the transfer' }), hash)
    await type(page, page.getByRole('textbox', { name: 'Ref link' }), await linkTo(sandbox, '/daylight'))
    await press(page, ask)
    await press(page, page.getByRole('button', { name: 'Take the money back' }))
    await page.getByText('Your money is back in your wallet').waitFor()
    expect(await balance()).toBe(before)
    expect(wallet.asked.map(({ method }) => method)).toEqual([
      'eth_requestAccounts',
      'eth_signTypedData_v4',
      'eth_sendTransaction',
    ])
  })

  it('signs the rate of its cashback, and not when it is too high', async () => {
    const owner = market().sandbox.account('reviewer')
    const { page, wallet } = await market().visitWithWallet(owner, { isSignedIn: true })
    await arrive(page, `/me/agent/${owner.agentId}`)
    await press(page, page.getByRole('button', { name: 'Change the rate' }))
    await press(page, page.getByRole('button', { name: WALLET_NAME }))
    const share = page.getByRole('textbox', { name: 'Share of the commission, in percent' })
    await type(page, share, '41')
    const set = page.getByRole('button', { name: 'Sign and set' })
    await press(page, set)
    await page.getByText('Enter a share from 0 to 40').waitFor()
    await type(page, share, '12.5')
    await press(page, set)
    await page.getByText('Buyers get back 12.5 % of the commission').waitFor()
    expect(wallet.asked.map(({ method }) => method)).toEqual(['eth_requestAccounts', 'eth_signTypedData_v4'])
    expect(JSON.stringify(wallet.asked[1]?.params)).toContain('1250')
    await reach(page, page.getByRole('button', { name: 'Change the rate' }))
  })

  it('sets caps, and queues a purchase within them that it can withdraw', async () => {
    const { account } = market().sandbox
    const { page } = await market().visit({ as: account('buyer'), expected: /^404 \/v1\/spending-limits$/ })
    await arrive(page, '/me/spending')
    await press(page, page.getByRole('button', { name: /^(Set|Change the) caps$/ }))
    const single = page.getByRole('textbox', { name: 'For one purchase, in USDC' })
    await type(page, single, 'much')
    await press(page, page.getByRole('button', { name: 'Save the caps' }))
    await hasFocus(single)
    await type(page, single, '2.50')
    await type(page, page.getByRole('textbox', { name: 'For a day (UTC), in USDC' }), '7')
    await type(page, page.getByRole('textbox', { name: 'For all time, in USDC' }), '')
    await press(page, page.getByRole('button', { name: 'Save the caps' }))
    await page.getByText('The caps are set').waitFor()
    await reach(page, page.getByRole('button', { name: 'Change the caps' }))

    const { reviews } = await get('/v1/review?limit=1')
    await type(page, page.getByRole('textbox', { name: 'Ref link' }), reviews[0].ref_link)
    await type(page, page.getByRole('textbox', { name: 'At most, in USDC' }), '1')
    await press(page, page.getByRole('checkbox', { name: 'Let the agent vote and review' }), 'Space')
    await press(page, page.getByRole('button', { name: /^Queue for agent/ }))
    const pending = page.getByRole('listitem').filter({ hasText: 'pending' })
    await press(page, pending.getByRole('button', { name: 'Withdraw' }))
    await page.getByRole('listitem').filter({ hasText: 'withdrawn' }).first().waitFor()
    await expect.poll(() => pending.count()).toBe(0)
    await reach(page, page.getByRole('textbox', { name: 'Ref link' }))
  })

  it('submits a proof for a product that its agent has not bought here', async () => {
    const { agentId, ...owner } = market().sandbox.account('buyer')
    const { page } = await market().visit({ as: owner })
    await arrive(page, `/me/agent/${agentId}`)
    await press(page, page.getByRole('main').getByRole('link', { name: 'Proofs', exact: true }))
    await page.getByRole('heading', { level: 1, name: 'Proofs' }).waitFor()
    const product = page.getByRole('combobox', { name: 'Product' })
    const submit = page.getByRole('button', { name: 'Submit the proof' })
    await press(page, submit)
    await page.getByText('Choose the product.').waitFor()
    await hasFocus(product)
    const names = await product.getByRole('option').allTextContents()
    await select(page, product, String(names[1]))
    const text = 'Used on 3 November; receipt 4711 of the shop shows it.'
    await type(page, page.getByRole('textbox', { name: 'What the agent did' }), text)
    await type(page, page.getByRole('textbox', { name: 'A link, if there is one' }), 'receipts')
    await press(page, submit)
    await page.getByText('Enter a whole address').waitFor()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText('https://shop.example/receipt/4711')
    await press(page, submit)
    await page.getByText('The proof is submitted').waitFor()
    await page.getByText('The operator has not decided yet.').first().waitFor()
    await reach(page, product)
  })

  it('closes one session and then all others, which are signed out then', async () => {
    const owner = market().sandbox.account('reviewer')
    const other = await market().visit({ as: owner })
    await arrive(other.page, '/me')
    const { page } = await market().visit({ as: owner })
    await market().visit({ as: owner })
    await arrive(page, '/me/sessions')
    await page.getByText('This one').waitFor()
    const close = page.getByRole('button', { name: 'Close', exact: true })
    const before = await close.count()
    await press(page, close.first())
    await page.getByText('The session is closed').waitFor()
    await expect.poll(() => close.count()).toBe(before - 1)
    await press(page, page.getByRole('button', { name: 'Close all others' }))
    await page.getByText('All other sessions are closed').waitFor()
    await expect.poll(() => close.count()).toBe(0)
    await other.page.goto('/me')
    await other.page.waitForURL(TO_ME)
    await reach(page, page.getByRole('main').getByRole('button', { name: 'Sign out' }))
  })
}
