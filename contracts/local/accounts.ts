import { mnemonicToAccount } from 'viem/accounts'

/** The well-known development mnemonic. Its keys are public: sandbox only. */
const MNEMONIC = 'test test test test test test test test test test test junk'

const ROLES = [
  'deployer',
  'admin',
  'oracle',
  'settler',
  'merchant',
  'reviewer',
  'buyer',
  'walletBuyer',
  'stranger',
  'publisher',
  'guardian',
  'treasury',
] as const
export type AccountRole = (typeof ROLES)[number]

/** The n-th development account; the local chain funds the first twenty with gas. */
export function developmentAccount(index: number) {
  return mnemonicToAccount(MNEMONIC, { addressIndex: index })
}

export type DevelopmentAccount = ReturnType<typeof developmentAccount>

/** One account for each part that somebody plays in the market. */
export function developmentAccounts(): Record<AccountRole, DevelopmentAccount> {
  const entries = ROLES.map((role, index) => [role, developmentAccount(index)] as const)
  return Object.fromEntries(entries) as Record<AccountRole, DevelopmentAccount>
}
