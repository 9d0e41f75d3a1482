// Opening a shop from nothing to its first sale, where every step checks itself on the chain; then what a merchant changes.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createPaymentMemory, createReferralEndpoint } from '@referrer/merchant'
import { nodeHandler } from '@referrer/merchant/node'
import type { Hex } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, expect, it } from 'vitest'
import { PATIENCE_MS } from '../../../../sandbox/test/sandbox.ts'
import { hasFocus, press, reach, step, type } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { arrive } from '../harness/visits.ts'
import { WALLET_NAME } from '../harness/wallet.ts'

const MERCHANT = fileURLToPath(new URL('../../../merchant/src/cli.ts', import.meta.url))

export function shopKeeping(market: () => ConsoleMarket): void {
  const servers: Server[] = []
  const folders: string[] = []
  afterAll(() => {
    for (const server of servers) server.close()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  /** What the page tells to run. */
  async function serve(merchantId: number, id: Hex): Promise<string> {
    const { contracts, chainId, rpcUrl, facilitatorUrl } = market().sandbox.state
    const endpoint = createReferralEndpoint({
      chainId,
      rpcUrl,
      addressRegistry: contracts.AddressRegistry,
      facilitatorUrl,
      setupUrl: `${market().origin}/.well-known/referrer-agent`,
      merchantId,
      payments: createPaymentMemory(),
      product: { id, description: 'Proverbs' },
      price: '0.05',
      serve: () => ({ proverb: 'Measure twice, cut once.' }),
    })
    await endpoint.ready()
    const server = createServer(nodeHandler(endpoint)).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/buy`
  }

  it('goes from nothing to the first sale', { timeout: PATIENCE_MS }, async () => {
    const { sandbox } = market()
    const { page, wallet } = await market().visitWithWallet(sandbox.account('stranger'), {
      isSignedIn: true,
      // The market is asked for the shop until it knows it.
      expected: /^404 \/v1\/merchant\/\d+\/summary$/,
    })
    await arrive(page, '/shop/open')
    await press(page, page.getByRole('button', { name: WALLET_NAME }))
    await press(page, page.getByRole('button', { name: /^Mint (an|another) identity$/ }))
    await press(page, page.getByRole('button', { name: 'Open the shop' }))
    const name = page.getByRole('textbox', { name: 'Name of a new product' })
    const price = page.getByRole('textbox', { name: 'Lowest price in USDC' })
    await type(page, name, `Proverbs ${Date.now()}`)
    await press(page, page.getByRole('button', { name: 'List the product' }))
    await hasFocus(price)
    await type(page, price, '0.05')
    await press(page, page.getByRole('button', { name: 'List the product' }))

    const address = page.getByRole('textbox', { name: 'Where buyers reach it' })
    await address.waitFor()
    const { searchParams } = new URL(page.url())
    const merchantId = Number(searchParams.get('merchant'))
    await type(page, address, await serve(merchantId, searchParams.get('product') as Hex))
    await press(page, page.getByRole('button', { name: 'Check the endpoint' }))
    await type(page, page.getByRole('textbox', { name: 'What a buyer gets' }), 'A proverb for the day.')
    await press(page, page.getByRole('button', { name: 'Save the description' }))
    await page.getByText('Waiting for the first sale').waitFor()

    const folder = mkdtempSync(join(tmpdir(), 'referrer-console-'))
    folders.push(folder)
    const shown = await page.locator('figure', { hasText: 'referrer.json' }).locator('pre').textContent()
    const project = { ...JSON.parse(shown ?? ''), rpc: sandbox.state.rpcUrl }
    writeFileSync(join(folder, 'referrer.json'), JSON.stringify(project))
    const env = { ...process.env, MERCHANT_PRIVATE_KEY: generatePrivateKey() }
    await promisify(execFile)(process.execPath, [MERCHANT, 'demo-sale'], { cwd: folder, env })
    await page.getByText('All steps are done.').waitFor()
    expect(wallet.asked.map(({ method }) => method)).toEqual([
      'eth_requestAccounts',
      'eth_sendTransaction',
      'eth_sendTransaction',
      'eth_sendTransaction',
    ])
    await press(page, page.getByRole('link', { name: 'your sales' }))
    await page.waitForURL(new RegExp(`/shop/${merchantId}/sales`))
    await press(page, page.getByRole('link', { name: '90 days' }))
    await page.waitForURL('**days=90*')
    await reach(page, page.getByRole('table').locator('a[href^="/escrow/"]').first())
  })

  it('changes what buyers read, the payout wallet and the keys of its servers, and closes the shop for a while', {
    timeout: PATIENCE_MS,
  }, async () => {
    const { sandbox, origin } = market()
    const merchant = sandbox.account('merchant')
    const payout = sandbox.account('stranger').address
    const { page, wallet } = await market().visitWithWallet(merchant, { isSignedIn: true })
    await arrive(page, '/shop')
    await press(page, page.getByRole('main').locator(`a[href="/shop/${merchant.merchantId}"]`).first())
    const about = 'Small facts about places and words, measured anew each day.'
    await type(page, page.getByRole('textbox', { name: 'About the shop' }), about)
    await press(page, page.getByRole('button', { name: 'Save', exact: true }))
    await page.getByText('Saved. Buyers see it now.').waitFor()

    await press(page, page.getByRole('button', { name: WALLET_NAME }))
    const change = page.getByRole('button', { name: 'Change the payout wallet' })
    await press(page, change)
    const field = page.getByRole('textbox', { name: 'New payout wallet' })
    await type(page, field, '0x12')
    await press(page, page.getByRole('button', { name: 'Pay sales to this wallet' }))
    await hasFocus(field)
    await type(page, field, payout)
    await press(page, page.getByRole('button', { name: 'Pay sales to this wallet' }))
    await page.getByText('goes at once to another wallet').waitFor()
    await hasFocus(change)

    await press(page, page.getByRole('button', { name: 'Add a server key' }))
    await press(page, page.getByRole('button', { name: 'Make a key here' }))
    await page.getByText(/^MERCHANT_SIGNING_KEY=0x[0-9a-f]{64}$/).waitFor()
    const made = await page.getByRole('textbox', { name: 'Address of the server’s key' }).inputValue()
    await press(page, page.getByRole('button', { name: 'Allow this key' }))
    const signers = async (): Promise<string[]> =>
      (await (await fetch(`${origin}/v1/merchant/${merchant.merchantId}/signers`)).json()).signers
    await expect.poll(signers).toContain(made)
    const takeBack = page.getByRole('button', { name: `Take back ${made.slice(0, 6)}…${made.slice(-4)}` })
    await press(page, takeBack)
    await press(page, page.getByRole('button', { name: 'Take the key back' }))
    await expect.poll(signers).not.toContain(made)
    await expect.poll(() => takeBack.count()).toBe(0)

    await press(page, page.getByRole('button', { name: 'Close the shop …' }))
    await press(page, page.getByRole('button', { name: 'Close the shop', exact: true }))
    await press(page, page.getByRole('button', { name: 'Open the shop' }))
    await reach(page, page.getByRole('button', { name: 'Close the shop …' }))
    expect(wallet.asked.map(({ method }) => method)).toEqual([
      'eth_requestAccounts',
      ...Array(5).fill('eth_sendTransaction'),
    ])
  })

  it('changes a product: its text, its commission, and whether it is on sale', {
    timeout: PATIENCE_MS,
  }, async () => {
    const { sandbox, origin } = market()
    const product = sandbox.state.products.find(({ endpointUrl }) => endpointUrl.endsWith('/daylight'))
    const path = `/shop/${product?.merchantId}/product/${product?.productId}`
    const { page } = await market().visitWithWallet(sandbox.account('merchant'), { isSignedIn: true })
    await arrive(page, `/shop/${product?.merchantId}`)
    await press(page, page.locator(`a[href="${path}"]`).first())
    const text = 'Sunrise, sunset and the length of the day for any city.'
    await type(page, page.getByRole('textbox', { name: 'What a buyer gets' }), text)
    await press(page, page.getByRole('button', { name: 'Save the description' }))
    await page.getByText('Saved. The market shows it now.').waitFor()
    const listed = await fetch(`${origin}/v1/product?merchant_id=${product?.merchantId}`)
    expect(await listed.text()).toContain(text)

    await press(page, page.getByRole('button', { name: WALLET_NAME }))
    const change = page.getByRole('button', { name: 'Change price or commission' })
    await press(page, change)
    await type(page, page.getByRole('textbox', { name: 'Commission in percent' }), '17.5')
    await press(page, page.getByRole('button', { name: 'Change it', exact: true }))
    await page.getByText('Reviewers share 17.5 % of the price').waitFor()
    await hasFocus(change)

    await press(page, page.getByRole('button', { name: 'Close the product …' }))
    await press(page, page.getByRole('button', { name: 'Close the product', exact: true }))
    await press(page, page.getByRole('button', { name: 'Open the product' }))
    await reach(page, page.getByRole('button', { name: 'Close the product …' }))
    await press(page, page.getByRole('button', { name: 'Show the code of the endpoint' }))
    const tabs = page.getByRole('tablist', { name: 'Framework' }).getByRole('tab')
    await reach(page, tabs.first())
    await step(page, tabs.nth(1), 'ArrowRight')
    await page.keyboard.press('Enter')
    await expect.poll(() => tabs.nth(1).getAttribute('aria-selected')).toBe('true')
  })
}
