// Buying with a wallet, here and now.
import { getAddress } from 'viem'
import { expect, it } from 'vitest'
import { PATIENCE_MS } from '../../../../sandbox/test/sandbox.ts'
import { press, type } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { arrive } from '../harness/visits.ts'
import { WALLET_NAME } from '../harness/wallet.ts'

interface Purchase {
  escrow_id: number
  buyer_agent_id: number | null
  payer: string
  price_usdc: number
}

/** What the first shop sells there needs a city. */
const PATH = '/daylight'
const QUESTION = 'city=Tokyo'

export function buying(market: () => ConsoleMarket): void {
  const newest = async (): Promise<Purchase> =>
    (await (await fetch(`${market().origin}/v1/activity?limit=1`)).json()).purchases[0]

  it('pays for a product with one signature, and shows what it bought', {
    timeout: PATIENCE_MS,
  }, async () => {
    const { sandbox } = market()
    const product = sandbox.state.products.find(({ endpointUrl }) => endpointUrl.endsWith(PATH))
    const { page, wallet } = await market().visitWithWallet(sandbox.account('buyer'))
    const before = await newest()
    await arrive(page, `/product/${product?.merchantId}/${product?.productId}`)
    await press(page, page.getByRole('link', { name: 'Your wallet, here' }))
    await press(page, page.getByRole('button', { name: WALLET_NAME }))
    await type(page, page.getByRole('textbox', { name: 'What you ask the product' }), QUESTION)
    await press(page, page.getByRole('button', { name: 'Ask the shop for its price' }))
    const pay = page.getByRole('button', { name: /^Sign and pay/ })

    wallet.refuse(true)
    await press(page, pay)
    await page.getByRole('alert').waitFor()
    expect(await newest()).toEqual(before)
    wallet.refuse(false)
    await press(page, pay)
    await page.getByRole('heading', { name: 'Bought' }).waitFor()

    const link = page.getByRole('link', { name: 'Where the money went' })
    await link.waitFor()
    await expect.poll(newest).not.toEqual(before)
    const bought = await newest()
    expect(bought).toMatchObject({ buyer_agent_id: sandbox.account('buyer').agentId })
    expect(bought.payer.toLowerCase()).toBe(wallet.account.address.toLowerCase())
    expect(wallet.asked.map(({ method }) => method)).toEqual([
      'eth_requestAccounts',
      'eth_signTypedData_v4',
      'eth_signTypedData_v4',
    ])
    const { primaryType, message } = JSON.parse(String(wallet.asked[2]?.params[1]))
    expect([primaryType, message.value, getAddress(message.to)]).toEqual([
      'TransferWithAuthorization',
      String(bought.price_usdc),
      sandbox.state.contracts.SplitRouter,
    ])
    await press(page, link)
    await page.waitForURL(`**/escrow/${bought.escrow_id}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  })
}
