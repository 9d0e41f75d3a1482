// Whether a receipt proves a purchase. What costs nothing is checked first, so that a forgery costs no request.
import { parseWebUrl } from '@referrer/net'
import { type Address, isAddressEqual } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { address } from '../../kit/json-values.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { readPayment } from '../receipts/payment.ts'
import { type Receipt, readReceipt } from '../receipts/receipt.ts'
import { listedKeys } from '../receipts/shop-keys.ts'
import { requireSignedBy } from '../receipts/signature.ts'
import { NotNow, Unproven } from '../receipts/verdict.ts'
import { type Claimed, countSpent, type Facts, factsOf } from './receipts-store.ts'

/** How far the clocks of a shop and ours may differ. */
const CLOCK_SKEW_SECONDS = 60
/** A shop signs when it is paid: how far that may be from the time of the block. */
const MOST_SECONDS_FROM_BLOCK = 300

export const USED = 'the receipt or its transaction has proved another purchase already'

/** Throws `Unproven`, or `NotNow` for what may be provable later. */
export async function verifyReceipt(context: Context, chain: Chain, claimed: Claimed): Promise<void> {
  const receipt = readReceipt(JSON.parse(claimed.proof_data))
  const { chainId } = chain.config
  const facts = await factsOf(context.sql, claimed)
  if (!facts) throw new NotNow('the agent or the product is not in the records of the chain')
  const { agents, shop } = peopleOf(context, facts)
  requireNetwork(receipt, chainId)
  const endpoint = requireResource(receipt, facts.endpoint_url)
  requireStrangers(facts, agents, shop.all)
  if (!agents.some((account) => isAddressEqual(account, receipt.payer))) {
    throw new Unproven('the payer of the receipt is neither the owner nor the wallet of the agent')
  }
  requireIssued(receipt, context.clock())
  const { transaction } = receipt
  if (!transaction) {
    throw new Unproven('no transaction is named, neither in the receipt nor beside it as transaction')
  }
  const hashes = [receipt.hash, bytesOf(transaction)]
  if ((await countSpent(context.sql, chainId, claimed.proof_id, hashes)) > 0) throw new Unproven(USED)
  await requireSignedBy(
    { accounts: shop.all, host: endpoint.host, listed: () => listedKeys(context, endpoint) },
    receipt.signing,
  )
  const payment = await readPayment(chain, transaction, { payer: receipt.payer, payees: shop.payees })
  if (payment.isThroughRouter) {
    throw new Unproven('the payment went through the split router: the buyer reviews with its escrow')
  }
  if (payment.paid === 0n) throw new Unproven('the transaction paid no USDC from the payer to the merchant')
  requirePrice(payment.paid, chain, facts, receipt)
  if (Math.abs(receipt.payload.issuedAt - payment.at) > MOST_SECONDS_FROM_BLOCK) {
    throw new Unproven('the receipt was not issued at the time of the payment')
  }
}

/**
 * A receipt tells no amount. One that does not name its transaction either could be shown beside any other payment of its payer, so that
 * has to be of the price that the endpoint asks for.
 */
function requirePrice(
  paid: bigint,
  { config }: Chain,
  { min_price, seen_price }: Facts,
  { payload }: Receipt,
): void {
  if (paid < min_price) throw new Unproven('the transaction paid less than the lowest price of the product')
  if (paid < config.leastAmount) {
    throw new Unproven('the transaction paid less than the lowest amount of a purchase here')
  }
  if (payload.transaction) return
  if (seen_price === null) {
    throw new Unproven('the receipt names no transaction, and the price of the product is not known')
  }
  if (paid < seen_price) {
    throw new Unproven('the receipt names no transaction, and the one beside it paid less than the price')
  }
}

interface People {
  agents: Address[]
  shop: {
    /** Accounts that the merchant is paid to. */
    payees: Address[]
    /** These and its settlement signers. */
    all: Address[]
  }
}

function peopleOf({ recovery }: Context, facts: Facts): People {
  const addresses = (of: (Buffer | null)[]) => of.flatMap((bytes) => (bytes ? address(recovery, bytes) : []))
  const payees = addresses([facts.payout, facts.merchant_owner])
  return {
    agents: addresses([facts.agent_owner, facts.agent_wallet]),
    shop: { payees, all: [...payees, ...addresses(facts.signers)] },
  }
}

/** People who sell to themselves, and those an admin has looked at before, are left to admins. */
function requireStrangers(facts: Facts, agents: readonly Address[], shop: readonly Address[]): void {
  if (facts.is_flagged) throw new Unproven('the agent is flagged')
  if (facts.is_suspended) throw new Unproven('the merchant is suspended')
  if (agents.some((agent) => shop.some((account) => isAddressEqual(agent, account)))) {
    throw new Unproven('the agent and the merchant belong to the same account')
  }
}

function requireNetwork({ payload: { network } }: Receipt, chainId: number): void {
  if (network !== `eip155:${chainId}`) throw new Unproven('the receipt is of another network than the proof')
}

function requireIssued({ payload: { issuedAt } }: Receipt, now: number): void {
  if (issuedAt > now / 1_000 + CLOCK_SKEW_SECONDS) throw new Unproven('the receipt was issued in the future')
}

/** Returns the product's endpoint. Of the query only what the endpoint itself has must be the same. */
function requireResource({ payload: { resourceUrl } }: Receipt, endpointUrl: string | null): URL {
  const endpoint = endpointUrl ? parseWebUrl(endpointUrl) : undefined
  if (!endpoint) throw new Unproven('the product has no endpoint')
  const paid = parseWebUrl(resourceUrl)
  const isSame =
    paid?.origin === endpoint.origin &&
    paid.pathname === endpoint.pathname &&
    [...endpoint.searchParams].every(([name, value]) => paid.searchParams.getAll(name).includes(value))
  if (!isSame) throw new Unproven("the receipt is of another resource than the product's endpoint")
  return endpoint
}
