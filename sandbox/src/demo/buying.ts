import { developmentAccount, escrowDeposits } from '@referrer/contracts/local'
import { decodePaymentResponseHeader } from '@x402/fetch'
import type { Hex } from 'viem'
import { WALLETS } from './cast.ts'
import { accountOf, agentOf, type Game, placesOf } from './game.ts'
import { nonceOf, payer } from './payer.ts'
import type { PlannedPurchase } from './plan.ts'

/** At the same time: they share transactions. */
export async function buyAll(game: Game, day: number): Promise<void> {
  const today = placesOf(game.plan.purchases, day, () => true)
  await Promise.all(today.map(([place, purchase]) => buy(game, place, purchase)))
}

async function buy(game: Game, place: number, { buyer, good, through }: PlannedPurchase): Promise<void> {
  const { market, published, deposits } = game
  const isAgent = 'reviewer' in buyer
  const account = isAgent ? accountOf(buyer.reviewer) : developmentAccount(WALLETS[buyer.wallet] ?? -1)
  const link = published.get(through)?.link ?? ''
  const { merchant_endpoint, token } = await (await fetch(link)).json()
  const nonce = nonceOf(place)
  const response = await payer(
    market,
    account,
    nonce,
  )(`${merchant_endpoint}${good.example}`, {
    headers: {
      'X-Referrer-Token': token,
      ...(isAgent && { 'X-Referrer-Buyer-Agent-Id': String(agentOf(game, buyer.reviewer)) }),
    },
  })
  const paid = response.headers.get('PAYMENT-RESPONSE')
  if (!response.ok || !paid)
    throw new Error(`${good.path} was not sold: ${response.status} ${await response.text()}`)
  const { transaction } = decodePaymentResponseHeader(paid)
  const receipt = await market.client.getTransactionReceipt({ hash: transaction as Hex })
  const deposit = escrowDeposits(receipt).find((one) => one.nonce === nonce)
  if (!deposit) throw new Error(`purchase ${place} left no escrow`)
  deposits.set(place, deposit)
}
