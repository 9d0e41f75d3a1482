// Accounts of a sandbox as wallets (EIP-6963), so that people can play without installing one. Loaded only in a sandbox.
import {
  type Address,
  createWalletClient,
  custom,
  type EIP1193Provider,
  type Hex,
  isHex,
  type TypedDataDefinition,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'

const HEADERS = { 'content-type': 'application/json', 'x-referrer-console': '1' }

/** Under which the browser keeps the account that was connected last: a wallet tells its account only to pages that were let in. */
const CHOSEN = 'sandbox-wallet'

interface Rpc {
  method: string
  params?: unknown
}

/** As wallets throw it: callers look at the code. */
class ProviderError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(message: string, code: number, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

let lastId = 0

async function askNode({ method, params = [] }: Rpc): Promise<unknown> {
  lastId += 1
  const body = JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params })
  const response = await fetch('/console/rpc', { method: 'POST', headers: HEADERS, body })
  const answer = await response.json()
  if (!response.ok) throw new ProviderError(String(answer.error ?? response.status), -32_601)
  if (answer.error) throw new ProviderError(answer.error.message, answer.error.code, answer.error.data)
  return answer.result
}

interface Transaction {
  to?: Address
  data?: Hex
  value?: Hex
  gas?: Hex
}

/** Signs with the key, sends through the market's own server. */
function providerOf(account: PrivateKeyAccount): EIP1193Provider {
  const sender = createWalletClient({ account, transport: custom({ request: askNode }) })

  async function request({ method, params = [] }: { method: string; params?: unknown }): Promise<unknown> {
    const [first, second] = params as [unknown, unknown]
    switch (method) {
      case 'eth_requestAccounts':
        localStorage.setItem(CHOSEN, account.address)
        return [account.address]
      case 'eth_accounts':
        return localStorage.getItem(CHOSEN) === account.address ? [account.address] : []
      case 'wallet_requestPermissions':
        localStorage.setItem(CHOSEN, account.address)
        return [
          {
            parentCapability: 'eth_accounts',
            caveats: [{ type: 'restrictReturnedAccounts', value: [account.address] }],
          },
        ]
      case 'wallet_revokePermissions':
        localStorage.removeItem(CHOSEN)
        return null
      case 'wallet_switchEthereumChain': {
        const current = await askNode({ method: 'eth_chainId' })
        if ((first as { chainId: Hex }).chainId === current) return null
        throw new ProviderError('the sandbox has one chain only', 4_902)
      }
      case 'personal_sign':
        return account.signMessage({ message: isHex(first) ? { raw: first } : String(first) })
      case 'eth_signTypedData_v4':
        return account.signTypedData(JSON.parse(String(second)) as TypedDataDefinition)
      case 'eth_sendTransaction': {
        const { to, data, value, gas } = first as Transaction
        return sender.sendTransaction({
          chain: null,
          ...(to && { to }),
          ...(data && { data }),
          ...(value && { value: BigInt(value) }),
          ...(gas && { gas: BigInt(gas) }),
        })
      }
      default:
        return askNode({ method, params })
    }
  }

  const nothing = () => undefined
  return { request, on: nothing, removeListener: nothing } as unknown as EIP1193Provider
}

const icon = (name: string): string => {
  const letter = encodeURIComponent(
    name
      .slice(0, 1)
      .toUpperCase()
      .replace(/[^A-Z]/, '?'),
  )
  return `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%23a0490a'/%3E%3Ctext x='16' y='22' font-size='17' font-family='sans-serif' text-anchor='middle' fill='white'%3E${letter}%3C/text%3E%3C/svg%3E`
}

/** How the names of the sandbox's wallets begin: they hold play money. */
export const PLAY = 'Sandbox: '

interface Account {
  name: string
  private_key: Hex
}

/** Announces one wallet for each account, now and whenever somebody asks. Answers with their addresses. */
export async function announceSandboxWallets(): Promise<ReadonlyMap<string, Address>> {
  const response = await fetch('/console/accounts', { headers: HEADERS })
  if (!response.ok) return new Map()
  const { accounts } = (await response.json()) as { accounts: Account[] }
  const details = accounts
    .map(({ name, private_key }) => ({ name, account: privateKeyToAccount(private_key) }))
    .map(({ name, account }) => ({
      address: account.address,
      info: Object.freeze({
        uuid: crypto.randomUUID(),
        name: `${PLAY}${name}`,
        icon: icon(name),
        rdns: `sandbox.referrer.${name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}`,
      }),
      provider: providerOf(account),
    }))
  const announce = () => {
    for (const { info, provider } of details) {
      const detail = Object.freeze({ info, provider })
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
    }
  }
  addEventListener('eip6963:requestProvider', announce)
  announce()
  return new Map(details.map(({ info, address }) => [info.rdns, address]))
}
