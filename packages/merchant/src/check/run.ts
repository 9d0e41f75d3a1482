import { Money, X402 } from '@referrer/protocol'
import type { Address, Hex, PublicClient } from 'viem'
import { termsOfSettling } from '../least-amount.ts'
import { connectTo, type Market, readMarket } from '../market.ts'
import { chainChecks } from './chain-checks.ts'
import { offerChecks, priceOf, readinessChecks, termsChecks } from './offer-checks.ts'
import { type Answers, ask, probe } from './probe.ts'
import { type Check, check, type Report, reasonOf, reportOf } from './report.ts'

export interface CheckOptions {
  url: string
  chainId: number
  rpcUrls: readonly string[]
  addressRegistry: Address
  merchantId?: bigint | undefined
  productId?: Hex | undefined
  facilitatorUrl?: string | undefined
  /** The address of the hot key. */
  signer?: Address | undefined
}

/** Looks at a referral endpoint as buyers and the marketplace will. Never pays. */
export async function checkEndpoint(options: CheckOptions): Promise<Report> {
  const { url, chainId, rpcUrls, facilitatorUrl } = options
  let answers: Answers
  try {
    answers = await probe(url)
  } catch (error) {
    const fix = `no answer from ${url}: ${reasonOf(error)}`
    return reportOf([check('reachable', false, '', fix)])
  }
  const client = connectTo({ rpcUrls, fetch })
  let market: Market | undefined
  const unread: Check[] = []
  try {
    market = await readMarket(client, options)
  } catch (error) {
    const fix = `the market cannot be read: ${reasonOf(error)}; check --rpc, --chain-id and --registry`
    unread.push(check('market_is_readable', false, '', fix))
  }
  return reportOf([
    ...readinessChecks(answers, market),
    ...unread,
    ...(market ? termsChecks(answers, market, chainId) : []),
    ...offerChecks(answers),
    ...(market ? await sellerChecks(client, market, options, answers) : []),
    ...(facilitatorUrl === undefined
      ? []
      : await facilitatorChecks(facilitatorUrl, chainId, priceOf(answers))),
  ])
}

async function sellerChecks(
  client: PublicClient,
  market: Market,
  { addressRegistry, merchantId, productId, signer }: CheckOptions,
  answers: Answers,
): Promise<Check[]> {
  try {
    const seller = { addressRegistry, merchantId, productId, signer, price: priceOf(answers) }
    return await chainChecks(client, market, seller)
  } catch (error) {
    const fix = `the merchant cannot be read from the chain: ${reasonOf(error)}; check --merchant-id and --rpc`
    return [check('merchant_is_readable', false, '', fix)]
  }
}

async function facilitatorChecks(
  facilitatorUrl: string,
  chainId: number,
  price: bigint | undefined,
): Promise<Check[]> {
  const name = 'facilitator_settles_here'
  const network = X402.Network.from(chainId)
  try {
    const { status, body } = await ask(`${facilitatorUrl.replace(/\/+$/, '')}/supported`, 'GET')
    const terms = termsOfSettling(body, network)
    const fix =
      status === 200
        ? `${facilitatorUrl} does not settle "exact" payments on ${network}: name another facilitator`
        : `${facilitatorUrl}/supported answered ${status}: check --facilitator`
    return [check(name, terms !== undefined, network, fix), ...leastCheck(price, terms?.least)]
  } catch (error) {
    const fix = `no answer from ${facilitatorUrl}: ${reasonOf(error)}; check --facilitator`
    return [check(name, false, '', fix)]
  }
}

function leastCheck(price: bigint | undefined, least = 0n): Check[] {
  if (price === undefined || least === 0n) return []
  const [asked, needed] = [Money.format(price), Money.format(least)]
  const fix = `the price ${asked} is below the least amount ${needed} that the facilitator settles: raise it`
  return [check('price_reaches_least_amount', price >= least, `${asked} USDC, at least ${needed}`, fix)]
}
