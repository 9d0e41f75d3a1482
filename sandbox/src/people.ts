import {
  type AccountRole,
  developmentAccount,
  type Market,
  mintUsdc,
  openMerchant,
  privateKeyOf,
  registerIdentity,
} from '@referrer/contracts/local'
import type { SandboxAccount } from './state.ts'

const FUNDS = 10_000_000_000n

/** Gives the sandbox's accounts what their role needs: identities and money. */
export async function registerPeople(market: Market): Promise<SandboxAccount[]> {
  const { deployer, merchant, reviewer, buyer, walletBuyer } = market.accounts
  // Several routes refuse 0 in a path: identity 0 goes to an account that no demo uses.
  await registerIdentity(market, deployer)
  const known: Partial<Record<AccountRole, Partial<SandboxAccount>>> = {
    merchant: { merchantId: Number(await openMerchant(market, merchant)) },
    reviewer: { agentId: Number(await registerIdentity(market, reviewer)) },
    buyer: { agentId: Number(await registerIdentity(market, buyer)) },
  }
  for (const { address } of [buyer, walletBuyer]) await mintUsdc(market, address, FUNDS)
  const roles = Object.keys(market.accounts) as AccountRole[]
  return roles.map((role, index) => ({ ...sandboxAccount(role, index), ...known[role] }))
}

/** The n-th development account. */
export function sandboxAccount(role: AccountRole, index: number): SandboxAccount {
  const account = developmentAccount(index)
  return { role, address: account.address, privateKey: privateKeyOf(account) }
}
