// Opening a shop from nothing to its first sale: every step checks itself on the chain.
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
import type { ConsoleMarket } from '../harness/market.ts'
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
    await page.goto('/shop/open')
    await page.getByRole('button', { name: WALLET_NAME }).click()
    await page.getByRole('button', { name: /^Mint (an|another) identity$/ }).click()
    await page.getByRole('button', { name: 'Open the shop' }).click()
    const name = page.getByRole('textbox', { name: 'Name of a new product' })
    await name.fill(`Proverbs ${Date.now()}`)
    await page.getByRole('button', { name: 'List the product' }).click()
    await page.getByRole('textbox', { name: 'Lowest price in USDC' }).fill('0.05')
    await page.getByRole('button', { name: 'List the product' }).click()

    const address = page.getByRole('textbox', { name: 'Where buyers reach it' })
    await address.waitFor()
    const { searchParams } = new URL(page.url())
    const merchantId = Number(searchParams.get('merchant'))
    await address.fill(await serve(merchantId, searchParams.get('product') as Hex))
    await page.getByRole('button', { name: 'Check the endpoint' }).click()
    await page.getByRole('textbox', { name: 'What a buyer gets' }).fill('A proverb for the day.')
    await page.getByRole('button', { name: 'Save the description' }).click()
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
    await page.getByRole('link', { name: 'your sales' }).click()
    await page.waitForURL(new RegExp(`/shop/${merchantId}/sales`))
    await page.getByRole('heading', { level: 1 }).waitFor()
  })
}
