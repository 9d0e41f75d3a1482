import {
  type Account,
  type Address,
  createWalletClient,
  custom,
  type EIP1193Provider,
  type Hex,
  type TypedDataDefinition,
} from 'viem'

/**
 * Signs without asking anybody: an account of viem, or a key that is kept elsewhere.
 *
 * @example
 * ```ts
 * import type { SigningAccount } from '@referrer/client'
 * import { privateKeyToAccount } from 'viem/accounts'
 *
 * export const account: SigningAccount = privateKeyToAccount(`0x${'11'.repeat(32)}`)
 * ```
 */
export interface SigningAccount {
  address: Address
  signMessage(args: { message: string | { raw: Hex } }): Promise<Hex>
  signTypedData(typed: TypedDataDefinition): Promise<Hex>
}

/**
 * A person's wallet, as viem and wagmi have it: what `createWalletClient` returns and `useWalletClient` has as its `data`.
 *
 * @example
 * ```ts
 * import type { ConnectedWallet } from '@referrer/client'
 * import { createWalletClient, custom, type EIP1193Provider } from 'viem'
 *
 * declare const provider: EIP1193Provider
 * declare const address: `0x${string}`
 * export const wallet: ConnectedWallet = createWalletClient({ account: address, transport: custom(provider) })
 * ```
 */
export interface ConnectedWallet {
  account?: Account | undefined
  signMessage(args: { account: Account; message: string | { raw: Hex } }): Promise<Hex>
  signTypedData(typed: TypedDataDefinition & { account: Account }): Promise<Hex>
}

/**
 * A wallet as it is without a library: `window.ethereum` and the account that it has connected.
 *
 * @example
 * ```ts
 * import type { ProvidedWallet } from '@referrer/client'
 * import type { EIP1193Provider } from 'viem'
 *
 * declare const ethereum: EIP1193Provider
 * const [address] = await ethereum.request({ method: 'eth_requestAccounts' })
 * export const wallet: ProvidedWallet = { provider: ethereum, address: address as `0x${string}` }
 * ```
 */
export interface ProvidedWallet {
  provider: Pick<EIP1193Provider, 'request'>
  address: Address
}

/** Who signs, whichever of the three it came from. */
export interface Signer {
  address: Address
  /** What the caller gave: clients that have it in common share their timestamps. */
  key: object
  /** Every signature is a question to a person, so one for a session is better than one for each request. */
  asksPerson: boolean
  signMessage(message: string | { raw: Hex }): Promise<Hex>
  signTypedData(typed: TypedDataDefinition): Promise<Hex>
}

export function signerOf({
  account,
  wallet,
}: {
  account?: SigningAccount | undefined
  wallet?: ConnectedWallet | ProvidedWallet | undefined
}): Signer | undefined {
  if (account && wallet) throw new TypeError('give an account or a wallet, not both')
  if (wallet) return signerOfWallet(wallet)
  return (
    account && {
      address: account.address,
      key: account,
      asksPerson: false,
      signMessage: (message) => account.signMessage({ message }),
      signTypedData: (typed) => account.signTypedData(typed),
    }
  )
}

function signerOfWallet(wallet: ConnectedWallet | ProvidedWallet): Signer {
  const connected: ConnectedWallet =
    'provider' in wallet
      ? createWalletClient({ account: wallet.address, transport: custom(wallet.provider) })
      : wallet
  const { account } = connected
  if (!account) throw new TypeError('the wallet has no account: connect it first')
  return {
    address: account.address,
    key: wallet,
    asksPerson: true,
    signMessage: (message) => connected.signMessage({ account, message }),
    signTypedData: (typed) => connected.signTypedData({ account, ...typed }),
  }
}
