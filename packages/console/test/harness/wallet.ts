// A wallet in the page, as an extension would put one there: EIP-1193 announced by EIP-6963. Its keys stay in this process.
import type { BrowserContext, Page } from 'playwright-core'
import {
  createWalletClient,
  defineChain,
  type Hex,
  hexToBigInt,
  hexToNumber,
  http,
  isHex,
  keccak256,
  numberToHex,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'

export const WALLET_NAME = 'Test Wallet'

export interface Asked {
  method: string
  params: unknown[]
}

/** What the person behind the wallet can change, and what it saw. */
export interface TestWallet {
  account: PrivateKeyAccount
  /** Everything that needed the person's consent, in order. */
  asked: Asked[]
  /** The person says no to whatever is asked from now on. */
  refuse(isRefusing: boolean): void
  /** What it does with transactions from now on. */
  sends(how: Sending): void
  /** The chain that it is on. */
  chainId(): number
}

/** `lost`: it tells a hash, and no node ever gets the transaction. `silent`: it sends, and never says so. */
export type Sending = 'as asked' | 'lost' | 'silent'

export interface WalletOptions {
  privateKey: Hex
  rpcUrl: string
  /** The chain of the market. */
  chainId: number
  /** The chain that the wallet is on at first, if it is another. */
  startsOn?: number
}

interface Answer {
  result?: unknown
  error?: { code: number; message: string }
}

const REFUSED = { code: 4001, message: 'User rejected the request.' }
const UNKNOWN_CHAIN = { code: 4902, message: 'Unrecognized chain.' }
const UNSUPPORTED = { code: 4200, message: 'This wallet does not support the method.' }
/** Somebody has to agree to these. */
const CONSENT =
  /^(eth_requestAccounts|personal_sign|eth_signTypedData_v4|eth_sendTransaction|wallet_switchEthereumChain)$/
const BINDING = '__testWallet'

/** Before the first page of the context is opened. */
export async function injectWallet(
  where: BrowserContext | Page,
  { privateKey, rpcUrl, chainId, startsOn = chainId }: WalletOptions,
): Promise<TestWallet> {
  const account = privateKeyToAccount(privateKey)
  const chain = defineChain({
    id: chainId,
    name: 'the sandbox',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const client = createWalletClient({ account, chain, transport: http(rpcUrl) })
  const asked: Asked[] = []
  let isRefusing = false
  let isConnected = false
  let sending: Sending = 'as asked'
  let current = startsOn

  async function answer({ method, params = [] }: Asked): Promise<Answer> {
    if (CONSENT.test(method)) {
      asked.push({ method, params })
      if (isRefusing) return { error: REFUSED }
    }
    const [first, second] = params as [unknown, unknown]
    switch (method) {
      case 'eth_requestAccounts':
        isConnected = true
        return { result: [account.address] }
      case 'eth_accounts':
        return { result: isConnected ? [account.address] : [] }
      case 'eth_chainId':
        return { result: numberToHex(current) }
      case 'wallet_switchEthereumChain': {
        const wanted = hexToNumber((first as { chainId: Hex }).chainId)
        if (wanted !== chainId) return { error: UNKNOWN_CHAIN }
        current = wanted
        return { result: null }
      }
      case 'personal_sign':
        return {
          result: await account.signMessage({ message: isHex(first) ? { raw: first } : String(first) }),
        }
      case 'eth_signTypedData_v4':
        return { result: await account.signTypedData(JSON.parse(String(second))) }
      case 'eth_sendTransaction':
        return { result: await send(first as Transaction) }
    }
    if (method.startsWith('wallet_')) return { error: UNSUPPORTED }
    try {
      return { result: await client.request({ method, params } as never) }
    } catch (error) {
      const {
        code = -32603,
        shortMessage,
        message,
      } = error as Error & { code?: number; shortMessage?: string }
      return { error: { code, message: shortMessage ?? message } }
    }
  }

  async function send({ to, data, value = '0x0', gas }: Transaction): Promise<Hex> {
    const wanted = {
      to,
      data,
      value: hexToBigInt(value),
      ...(gas && { gas: hexToBigInt(gas) }),
    } as Parameters<typeof client.sendTransaction>[0]
    if (sending === 'lost') {
      const request = await client.prepareTransactionRequest(wanted as never)
      return keccak256(await client.signTransaction(request as never))
    }
    const hash = await client.sendTransaction(wanted)
    return sending === 'silent' ? new Promise<Hex>(() => {}) : hash
  }

  await where.exposeFunction(BINDING, (request: Asked) => answer(request))
  await where.addInitScript(installProvider, { binding: BINDING, name: WALLET_NAME })
  return {
    account,
    asked,
    refuse: (value) => {
      isRefusing = value
    },
    sends: (how) => {
      sending = how
    },
    chainId: () => current,
  }
}

interface Transaction {
  to: Hex
  data?: Hex
  value?: Hex
  gas?: Hex
}

/** Runs in the page. */
function installProvider({ binding, name }: { binding: string; name: string }): void {
  type Listener = (value: unknown) => void
  const ask = (globalThis as unknown as Record<string, (request: object) => Promise<Answer>>)[binding]
  const listeners = new Map<string, Set<Listener>>()
  const emit = (event: string, value: unknown) => {
    for (const listener of listeners.get(event) ?? []) listener(value)
  }
  const provider = {
    async request({ method, params }: { method: string; params?: unknown[] }) {
      const { result, error } = (await ask?.({ method, params: params ?? [] })) ?? {}
      if (error) throw Object.assign(new Error(error.message), { code: error.code })
      if (method === 'wallet_switchEthereumChain')
        emit('chainChanged', (params as { chainId: string }[])[0]?.chainId)
      if (method === 'eth_requestAccounts') emit('accountsChanged', result)
      return result
    },
    on(event: string, listener: Listener) {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener))
      return provider
    },
    removeListener(event: string, listener: Listener) {
      listeners.get(event)?.delete(listener)
      return provider
    },
  }
  const detail = Object.freeze({
    info: Object.freeze({
      uuid: '6f4c9a2e-4a54-4c5e-9b1e-0d6f1c2b3a49',
      name,
      icon: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>',
      rdns: 'example.test-wallet',
    }),
    provider,
  })
  const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  window.addEventListener('eip6963:requestProvider', announce)
  announce()
}
