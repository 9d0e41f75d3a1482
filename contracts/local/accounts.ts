import { bytesToHex, type Hex } from 'viem'
import { type HDAccount, mnemonicToAccount } from 'viem/accounts'

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

const derived = new Map<number, HDAccount>()

/** The n-th development account; the local chain funds the first twenty with gas. */
export function developmentAccount(index: number): HDAccount {
  const account = derived.get(index) ?? mnemonicToAccount(MNEMONIC, { addressIndex: index })
  derived.set(index, account)
  return account
}

/** Its private key, for handing to tools that hold keys themselves. */
export function privateKeyOf(account: HDAccount): Hex {
  const { privateKey } = account.getHdKey()
  if (!privateKey) throw new Error(`${account.address} has no private key`)
  return bytesToHex(privateKey)
}

/** One account for each part that somebody plays in the market. */
export function developmentAccounts(): Record<AccountRole, HDAccount> {
  const entries = ROLES.map((role, index) => [role, developmentAccount(index)] as const)
  return Object.fromEntries(entries) as Record<AccountRole, HDAccount>
}
