import {
  type AccountRole,
  type Market,
  mintUsdc,
  openMerchant,
  privateKeyOf,
  registerIdentity,
} from '@referrer/contracts/local'
import type { SandboxAccount } from './state.ts'

const FUNDS = 10_000_000_000n

/** Gives the sandbox's people what their part needs: identities, an open shop, money. */
export async function settleIn(market: Market): Promise<SandboxAccount[]> {
  const { deployer, merchant, reviewer, buyer, walletBuyer } = market.accounts
  // Identity 0 is as real as any, but several routes refuse it as a path: nobody's demo should depend on it.
  await registerIdentity(market, deployer)
  const known: Partial<Record<AccountRole, Partial<SandboxAccount>>> = {
    merchant: { merchantId: Number(await openMerchant(market, merchant)) },
    reviewer: { agentId: Number(await registerIdentity(market, reviewer)) },
    buyer: { agentId: Number(await registerIdentity(market, buyer)) },
  }
  for (const { address } of [buyer, walletBuyer]) await mintUsdc(market, address, FUNDS)
  return Object.entries(market.accounts).map(([role, account]) => ({
    role: role as AccountRole,
    address: account.address,
    privateKey: privateKeyOf(account),
    ...known[role as AccountRole],
  }))
}
