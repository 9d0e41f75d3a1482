import { pbkdf2Sync } from 'node:crypto'
import { type Account, bytesToHex, type Hex } from 'viem'
import { type HDAccount, HDKey, privateKeyToAccount } from 'viem/accounts'

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

/** Worked out once, the slow part by the system's own code: a start would spend half a second on its accounts otherwise. */
const parent = HDKey.fromMasterSeed(pbkdf2Sync(MNEMONIC, 'mnemonic', 2_048, 64, 'sha512')).derive(
  "m/44'/60'/0'/0",
)
const FUNDED = 20
const derived = new Map<number, HDAccount>()

/** The n-th development account; the local chain funds the first ones with gas. */
export function developmentAccount(index: number): HDAccount {
  const account = derived.get(index) ?? derive(index)
  derived.set(index, account)
  return account
}

/** Whether the local chain has its key, too: it holds those of the accounts that it funds. */
export const isDevelopmentAccount = (account: Account): account is HDAccount =>
  [...derived].some(([index, { address }]) => index < FUNDED && address === account.address)

function derive(index: number): HDAccount {
  const key = parent.deriveChild(index)
  return { ...privateKeyToAccount(hexOf(key)), getHdKey: () => key, source: 'hd' }
}

function hexOf({ privateKey }: HDKey): Hex {
  if (!privateKey) throw new Error('a derived key has a private part')
  return bytesToHex(privateKey)
}

/** Its private key, for handing to tools that hold keys themselves. */
export const privateKeyOf = (account: HDAccount): Hex => hexOf(account.getHdKey())

/** One account for each part that somebody plays in the market. */
export function developmentAccounts(): Record<AccountRole, HDAccount> {
  const entries = ROLES.map((role, index) => [role, developmentAccount(index)] as const)
  return Object.fromEntries(entries) as Record<AccountRole, HDAccount>
}
