// A market of two products and the people who trade there for seventy days.
import {
  developmentAccount,
  type EscrowDeposit,
  escrowTerms,
  mintUsdc,
  openMerchant,
  registerIdentity,
} from '@referrer/contracts/local'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { encodeFunctionData, type LocalAccount } from 'viem'
import { bytesOf } from '../../src/machinery/db/bytes.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from './caller.ts'
import { setCashbackRate } from './commitments.ts'
import { generic, publishReview, startTestMarket, type TestMarket } from './market.ts'
import { ENDPOINT, sell } from './reviews.ts'
import { buyThrough, linkTerms, type Shares, sharesOf } from './shopping.ts'

export interface Person {
  account: LocalAccount
  agentId: bigint
}

export interface Author extends Person {
  reviewId: bigint
  internalId: number
}

export interface Purchase {
  deposit: EscrowDeposit
  author: Author
  payer: LocalAccount
  /** Undefined: bought without naming an agent. */
  buyer: Person | undefined
  shares: Shares
}

/** The initial balance of each payer. */
export const SAVINGS = 100_000_000n
const COMMISSION_BPS = 1_000n

export interface Life extends TestMarket {
  authors: Record<'praised' | 'plain' | 'contradicted' | 'cleared' | 'upheld' | 'undecided', Author>
  buyers: [Person, Person, Person]
  /** The agent of a wallet that buys without naming it. */
  wallet: Person
  purchases: Map<string, Purchase>
  /** Buys, and stores the purchase under this name. */
  purchase(
    name: string,
    bought: { by: Author; payer: LocalAccount; buyer?: Person; price: bigint; multiplierBps?: number },
  ): Promise<void>
  called(name: string): Purchase
  /** Moves the clocks of the chain and the service to this second. */
  travelTo(timestamp: bigint): Promise<void>
  /** Lets the oracle settle what is due. In these tests it settles only when told to. */
  oracleSettles(): Promise<void>
}

/** Numbers of development accounts that no other test uses. */
const AUTHORS = { praised: 12, plain: 13, contradicted: 14, cleared: 15, upheld: 16, undecided: 17 }
/** The cashback that they pledge, in basis points. */
const PLEDGES = { praised: 4_000, plain: 0, contradicted: 1_000, cleared: 2_000, upheld: 0, undecided: 500 }

export async function startLife(): Promise<Life> {
  const m = await startTestMarket()
  const { market } = m
  const { merchant, buyer, walletBuyer } = market.accounts
  const person = async (account: LocalAccount): Promise<Person> => ({
    account,
    agentId: await registerIdentity(market, account),
  })

  const merchantId = await openMerchant(market, merchant)
  const body = { merchant_id: Number(merchantId) }
  await must(m.call('POST', '/v1/merchant/register', { as: merchant, body }))
  const good = await sell(m, merchantId, 1, ENDPOINT)
  const bad = await sell(m, merchantId, 2, ENDPOINT)

  const authors: Record<string, Author> = {}
  let proofId = 0n
  for (const [name, number] of Object.entries(AUTHORS)) {
    const author = await person(developmentAccount(number))
    await m.indexed()
    const bps = PLEDGES[name as keyof typeof PLEDGES]
    await must(setCashbackRate(m, author.account, { agentId: author.agentId, bps }))
    proofId += 1n
    const product = name === 'praised' || name === 'plain' ? good : bad
    const review = { agentId: author.agentId, product, content: generic(5, 'As good as it gets'), proofId }
    authors[name] = { ...author, ...(await publishReview(m, author.account, review)) }
  }
  const buyers: Life['buyers'] = [
    await person(buyer),
    await person(developmentAccount(18)),
    await person(developmentAccount(19)),
  ]
  const wallet = await person(walletBuyer)
  for (const { account } of [...buyers, wallet]) await mintUsdc(market, account.address, SAVINGS)

  const purchases = new Map<string, Purchase>()
  const life: Life = {
    ...m,
    authors: authors as Life['authors'],
    buyers,
    wallet,
    purchases,
    async purchase(name, { by, payer, buyer, price, multiplierBps }) {
      const terms = await linkTerms(m, by.reviewId)
      const commissionMultiplierBps = multiplierBps ?? terms.commissionMultiplierBps
      const deposit = await buyThrough(m, payer, by.reviewId, {
        price,
        commissionMultiplierBps,
        ...(buyer && { buyerAgentId: buyer.agentId }),
      })
      const shares = sharesOf(price, {
        commissionBps: COMMISSION_BPS,
        multiplierBps: BigInt(commissionMultiplierBps),
        cashbackBps: BigInt(terms.cashbackOfCommissionBps),
      })
      purchases.set(name, { deposit, author: by, payer, buyer, shares })
      await m.indexed()
    },
    called(name) {
      const purchase = purchases.get(name)
      if (!purchase) throw new Error(`nobody bought ${name}`)
      return purchase
    },
    async travelTo(timestamp) {
      await market.client.setNextBlockTimestamp({ timestamp })
      await market.client.mine({ blocks: 1 })
      m.clock.aheadMs = Number(timestamp) * 1_000 - Date.now()
      await m.indexed()
    },
    async oracleSettles() {
      await m.indexed()
      const [told] = await m.sql<{ at: Date }[]>`
        UPDATE jobs.schedules SET next_run_at = now() WHERE name = 'settle-escrows' RETURNING clock_timestamp() AS at`
      await until(async () => {
        const { count } = await m.sql`
          SELECT FROM jobs.schedules WHERE name = 'settle-escrows' AND last_finished_at > ${told?.at ?? null}`
        return count
      }, 'the oracle to look at what is due')
      await untilOracleWaits(m)
    },
  }
  await untilOracleWaits(m)
  return life
}

/** The oracle's schedule goes by the database's clock; this waits until it pauses, and keeps it paused. */
async function untilOracleWaits({ sql }: TestMarket): Promise<void> {
  await until(async () => {
    await sql`UPDATE jobs.schedules SET next_run_at = 'infinity' WHERE name = 'settle-escrows' AND lease_until IS NULL`
    const { count } = await sql`
      SELECT FROM jobs.schedules WHERE name = 'settle-escrows' AND next_run_at = 'infinity'`
    return count
  }, 'the oracle to wait')
}

/** Records a failed settlement of a day before, so that the oracle sends the next one alone. */
export async function setApart({ sql, chainId, market, clock }: Life, { deposit }: Purchase): Promise<void> {
  const contract = bytesOf(market.addresses.CommissionEscrow)
  const { escrowId, payer, nonce } = deposit
  await sql`
    WITH tried AS (
      INSERT INTO sender.intents (chain_id, key, from_address, to_address, data, value, state, reason)
      VALUES (${chainId}, ${`test/${nonce}`}, ${bytesOf(market.accounts.oracle.address)}, ${contract}, ''::bytea, 0, 'failed', 'a test')
      RETURNING id)
    INSERT INTO market.escrow_decisions (chain_id, contract, payer, nonce, kind, attempt, escrow_id, contradicted, cashback_earned,
      inputs, decided_at, transaction_id)
    SELECT ${chainId}, ${contract}, ${bytesOf(payer)}, ${bytesOf(nonce)}, 'settle', 1, ${Number(escrowId)}, false, false, '{}',
      ${new Date(Date.now() + clock.aheadMs - 86_400_000)}, id
    FROM tried`
}

/** A part of the call data that identifies the oracle's settlements of this escrow in requests to a node. */
export function settlementOf({ deposit }: Purchase): string {
  const data = encodeFunctionData({
    abi: commissionEscrowAbi,
    functionName: 'settle',
    args: [escrowTerms(deposit), false, false],
  })
  // The function selector and the escrow's id.
  return data.slice(2, 2 + 8 + 64)
}
