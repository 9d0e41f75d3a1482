import type { AccountRole } from '@referrer/contracts/local'
import type { Person, Telegram } from '@referrer/telegram-stand-in'
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { accountOf } from '../program.ts'
import type { SandboxAccount } from '../state.ts'

/** One of the sandbox's people, with a chat and a wallet. */
export interface Chatter {
  key: string
  name: string
  account: LocalAccount
  chat: Person
}

const NAMES: Partial<Record<AccountRole, string>> = {
  buyer: 'Buyer',
  walletBuyer: 'Wallet buyer',
  reviewer: 'Reviewer',
  merchant: 'Merchant',
}

export function inviteChatters(telegram: Telegram, accounts: SandboxAccount[]): Chatter[] {
  return Object.entries(NAMES).map(([key, name]) => ({
    key,
    name,
    account: privateKeyToAccount(accountOf({ accounts }, key as AccountRole).privateKey),
    chat: telegram.user({ firstName: name, username: `sandbox_${key.toLowerCase()}` }),
  }))
}
