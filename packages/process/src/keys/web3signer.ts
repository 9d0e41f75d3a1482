// Web3Signer of Consensys, its interface for Ethereum 1 (`web3signer eth1`).
import { type Address, getAddress, type Hex, isAddressEqual, isHex, type LocalAccount, size } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import type { Secret } from '../secret.ts'
import { remoteAccount } from './account.ts'
import { createSignerClient, type SignerDoor } from './client.ts'
import { SignerError } from './error.ts'

export interface Web3SignerConfig extends SignerDoor {
  /** For a proxy in front of it: Web3Signer itself knows clients by their certificates. */
  token: Secret | undefined
}

export interface Web3Signer {
  account(address: Address): LocalAccount
  /** Those of the addresses that it has no key of. Throws a `SignerError` when it does not answer. */
  missing(addresses: readonly Address[]): Promise<Address[]>
}

export function createWeb3Signer({ token, ...door }: Web3SignerConfig): Web3Signer {
  const client = createSignerClient('Web3Signer', door)
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token.reveal()}` } : {}
  /** It names keys by their public key. */
  const identifiers = new Map<Address, Hex>()

  async function readKeys(): Promise<void> {
    const { status, text } = await client.request('GET', '/api/v1/eth1/publicKeys', { headers })
    if (status !== 200) throw refusal(status, 'tells no public keys')
    identifiers.clear()
    for (const key of parseKeys(text)) identifiers.set(addressOf(key), key)
  }

  async function identifierOf(address: Address): Promise<Hex> {
    if (!identifiers.has(getAddress(address))) await readKeys()
    const identifier = identifiers.get(getAddress(address))
    if (identifier) return identifier
    throw new SignerError(`Web3Signer has no key of ${address}: load it there, or name another account`)
  }

  async function sign(address: Address, data: Hex): Promise<Hex> {
    const identifier = await identifierOf(address)
    const path = `/api/v1/eth1/sign/${identifier}`
    const { status, text } = await client.request('POST', path, { headers, body: { data } })
    // A key that was unloaded may be back under the same address.
    if (status === 404) identifiers.delete(getAddress(address))
    if (status !== 200) throw refusal(status, `does not sign for ${address}`)
    const answer = text.trim()
    if (!isHex(answer) || size(answer) > 200) {
      throw new SignerError(`Web3Signer's answer for ${address} is not a signature`)
    }
    return answer
  }

  return {
    account: (address) => remoteAccount(address, (preimage) => sign(address, preimage)),
    async missing(addresses) {
      await readKeys()
      const known = [...identifiers.keys()]
      return addresses.filter((address) => !known.some((each) => isAddressEqual(each, address)))
    },
  }
}

const WHY: Record<number, string> = {
  401: 'check WEB3SIGNER_TOKEN',
  403: 'check its --http-host-allowlist, and WEB3SIGNER_TOKEN',
  404: 'it has no such key',
}

const refusal = (status: number, what: string) =>
  new SignerError(
    `Web3Signer ${what}: it answers ${status}${WHY[status] === undefined ? '' : `; ${WHY[status]}`}`,
  )

/** 64 bytes each: x and y. */
function parseKeys(text: string): Hex[] {
  try {
    const keys: unknown = JSON.parse(text)
    if (Array.isArray(keys) && keys.every((key): key is Hex => isHex(key) && size(key) === 64)) return keys
  } catch {}
  throw new SignerError('Web3Signer answers no list of secp256k1 keys; start it as `web3signer eth1`')
}

const addressOf = (key: Hex): Address => publicKeyToAddress(`0x04${key.slice(2)}`)
