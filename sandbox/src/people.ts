import {
  type AccountRole,
  developmentAccount,
  type Market,
  mintUsdc,
  openMerchant,
  privateKeyOf,
  registerIdentity,
} from '@referrer/contracts/local'
import type { HDAccount } from 'viem/accounts'
import type { SandboxAccount } from './state.ts'

const FUNDS = 10_000_000_000n
/** The first development account that has no role yet. */
const SECOND_REVIEWER = developmentAccount(12)

export interface Reviewer {
  account: HDAccount
  agentId: bigint
}

export interface People {
  accounts: SandboxAccount[]
  merchantId: bigint
  reviewers: [Reviewer, Reviewer]
}

/** Gives the sandbox's accounts what their role needs: identities, an open shop, money. */
export async function registerPeople(market: Market): Promise<People> {
  const { deployer, merchant, reviewer, buyer, walletBuyer } = market.accounts
  // Several routes refuse 0 in a path: identity 0 goes to an account that no demo uses.
  await registerIdentity(market, deployer)
  const merchantId = await openMerchant(market, merchant)
  const first = { account: reviewer, agentId: await registerIdentity(market, reviewer) }
  const buyerId = await registerIdentity(market, buyer)
  const second = { account: SECOND_REVIEWER, agentId: await registerIdentity(market, SECOND_REVIEWER) }
  for (const { address } of [buyer, walletBuyer]) await mintUsdc(market, address, FUNDS)

  const known: Partial<Record<AccountRole, Partial<SandboxAccount>>> = {
    merchant: { merchantId: Number(merchantId) },
    reviewer: { agentId: Number(first.agentId) },
    buyer: { agentId: Number(buyerId) },
  }
  const accounts = Object.entries(market.accounts).map(([name, account]) => {
    const role = name as AccountRole
    return { ...accountOf(role, account), ...known[role] }
  })
  const added = { ...accountOf('reviewer', second.account), agentId: Number(second.agentId) }
  return { accounts: [...accounts, added], merchantId, reviewers: [first, second] }
}

const accountOf = (role: AccountRole, account: HDAccount): SandboxAccount => ({
  role,
  address: account.address,
  privateKey: privateKeyOf(account),
})
