// A review by somebody and a purchase by somebody else, so that a shop sees its first sale before it has customers.
import { Money } from '@referrer/protocol'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { type Address, type Hash, parseEventLogs } from 'viem'
import { findProduct, type Shop, ShopError } from '../shop/index.ts'
import { merchantOf } from '../shop/list.ts'
import { askOffer, buyThrough } from './buy.ts'
import { fundedAccount, newAgent } from './people.ts'
import { publishReview } from './review.ts'

export interface DemoSaleOptions {
  product?: string | undefined
  /** The text of the review, JSON. */
  review?: string | undefined
}

export interface DemoSale {
  reviewId: number
  refLink: string
  reviewerAgentId: number
  reviewer: Address
  buyer: Address
  transaction: Hash
  escrowId: number
  /** USDC as decimal text: the shares of what the buyer paid. */
  split: {
    price: string
    merchant: string
    reviewer: string
    heldBack: string
    cashback: string
    fee: string
  }
  /** What the shop served. */
  answer: Record<string, unknown>
}

const REVIEW = { rating: 5, description: 'Bought it once to see whether it works. It does.' }

/** Only on a sandbox: it makes people up, and approves its own proof. */
export async function demoSale(shop: Shop, { product: given, review }: DemoSaleOptions): Promise<DemoSale> {
  const { network, deployment, project, reporter, client } = shop
  if (!network.isSandbox || deployment.faucetUrl === undefined) {
    throw new ShopError(`demo-sale works on the sandbox only, not on ${network.name}: there people must buy`)
  }
  const merchantId = merchantOf(shop)
  const { id: productId, endpoint } = findProduct(project, given)
  if (endpoint === undefined) {
    throw new ShopError(
      'the market does not know where the product is bought: run referrer-merchant describe first',
    )
  }
  // Before anybody reviews it.
  await askOffer(endpoint)
  const reviewer = await reporter.during('a reviewer registers', newAgent(shop))
  reporter.step({
    name: 'reviewer',
    changed: true,
    text: `agent ${reviewer.agentId} of ${reviewer.account.address}`,
  })
  const published = await reporter.during(
    'the review is being published',
    publishReview(shop, reviewer, { merchantId, productId }, review ?? JSON.stringify(REVIEW)),
  )
  reporter.step({
    name: 'review',
    changed: true,
    text: `review ${published.reviewId}: ${shorten(published.refLink)}`,
  })
  const buyer = await fundedAccount(shop)
  const { transaction, answer } = await reporter.during(
    'a buyer pays through the link',
    buyThrough(shop, buyer, published.refLink),
  )
  reporter.step({ name: 'sale', changed: true, text: `${buyer.address} bought`, transaction })
  const { logs } = await client.getTransactionReceipt({ hash: transaction })
  const deposits = parseEventLogs({ abi: commissionEscrowAbi, eventName: 'EscrowDeposited', logs })
  // One transaction can hold several purchases.
  const args = deposits.find(({ args }) => args.payer === buyer.address)?.args
  if (!args) throw new ShopError(`transaction ${transaction} holds no purchase of ${buyer.address}`)
  const { price, commission, fee, heldBack, cashback } = args
  return {
    ...published,
    reviewerAgentId: reviewer.agentId,
    reviewer: reviewer.account.address,
    buyer: buyer.address,
    transaction,
    escrowId: Number(args.escrowId),
    split: {
      price: Money.format(price),
      merchant: Money.format(price - commission),
      reviewer: Money.format(commission - fee - heldBack - cashback),
      heldBack: Money.format(heldBack),
      cashback: Money.format(cashback),
      fee: Money.format(fee),
    },
    answer,
  }
}

const SHOWN = 60
const shorten = (link: string) => (link.length > SHOWN ? `${link.slice(0, SHOWN)}…` : link)
