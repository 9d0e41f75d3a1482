// Who signed a receipt.
import { createHash, type KeyObject, verify } from 'node:crypto'
import {
  type Address,
  getAddress,
  type Hex,
  isAddress,
  isAddressEqual,
  recoverAddress,
  recoverTypedDataAddress,
} from 'viem'
import { type Did, hostOfDid, keyOfDid, type ListedKey, parseDid } from './did.ts'
import type { Signing } from './receipt.ts'
import { Unproven } from './verdict.ts'

/** The domain and type of version 1 of the extension. The chain is always 1 there, whatever the network of the payment. */
const DOMAIN = { name: 'x402 receipt', version: '1', chainId: 1 } as const
const TYPES = {
  Receipt: [
    { name: 'version', type: 'uint256' },
    { name: 'network', type: 'string' },
    { name: 'resourceUrl', type: 'string' },
    { name: 'payer', type: 'string' },
    { name: 'issuedAt', type: 'uint256' },
    { name: 'transaction', type: 'string' },
  ],
} as const

/** What a shop may sign with. */
export interface ShopKeys {
  accounts: readonly Address[]
  /** The host of the product's endpoint, with its port if it has one. */
  host: string
  /** The keys of the host's DID document. Throws `NotNow` when it cannot be read. */
  listed(): Promise<readonly ListedKey[]>
}

const forged = () => new Unproven('the signature of the receipt is not right')

/** Throws `Unproven` unless the shop signed the receipt. */
export async function requireSignedBy(shop: ShopKeys, signing: Signing): Promise<void> {
  if (signing.format === 'eip712') return requireAccount(shop, [await eip712Signer(signing)])
  const did = parseDid(signing.kid)
  if (!did) throw new Unproven('the kid of the receipt is not a DID')
  if (did.method === 'pkh') return requireAccount(shop, await pkhSigner(did, signing))
  const own = keyOfDid(did)
  if (own) {
    // Before the document is fetched, so that a forgery costs nobody a request.
    if (!isSignedBy(own, signing)) throw forged()
    if ((await shop.listed()).some(({ key }) => key.equals(own))) return
    throw new Unproven("the key of the receipt is not listed in the DID document of the endpoint's host")
  }
  if (did.method !== 'web') throw new Unproven(`a machine does not read receipts signed by this kind of DID`)
  if (hostOfDid(did) !== shop.host) {
    throw new Unproven("the receipt is signed by another host than that of the product's endpoint")
  }
  const keys = (await shop.listed()).filter(({ id }) => isNamed(id, did, signing.kid))
  if (keys.length === 0)
    throw new Unproven('the DID document of the host does not list the key of the receipt')
  if (!keys.some(({ key }) => isSignedBy(key, signing))) throw forged()
}

/** Without a fragment any key of the document will do. */
const isNamed = (id: string, { fragment }: Did, kid: string) =>
  fragment === undefined || id === kid || id === `#${fragment}`

function requireAccount({ accounts }: ShopKeys, signers: readonly Address[]): void {
  if (signers.some((signer) => accounts.some((account) => isAddressEqual(account, signer)))) return
  throw new Unproven(
    "the receipt is signed by none of the merchant's owner, payout wallet and settlement signers",
  )
}

async function eip712Signer({ payload, signature }: Signing & { format: 'eip712' }): Promise<Address> {
  const message = { ...payload, version: BigInt(payload.version), issuedAt: BigInt(payload.issuedAt) }
  try {
    return await recoverTypedDataAddress({
      domain: DOMAIN,
      types: TYPES,
      primaryType: 'Receipt',
      message,
      signature,
    })
  } catch {
    throw forged()
  }
}

/** A JWS does not say which of the two keys that fit an ECDSA signature is meant. */
async function pkhSigner(
  { id }: Did,
  { alg, input, signature }: Signing & { format: 'jws' },
): Promise<Address[]> {
  const [, account = ''] = /^eip155:\d{1,16}:(0x[0-9a-fA-F]{40})$/.exec(id) ?? []
  if (alg !== 'ES256K' || signature.length !== 64 || !isAddress(account, { strict: false })) throw forged()
  const hash: Hex = `0x${createHash('sha256').update(input).digest('hex')}`
  const [r, s]: Hex[] = [`0x${signature.toString('hex', 0, 32)}`, `0x${signature.toString('hex', 32)}`]
  const signers = await Promise.all(
    [0, 1].map((yParity) =>
      recoverAddress({ hash, signature: { r: r as Hex, s: s as Hex, yParity } }).catch(() => undefined),
    ),
  )
  if (!signers.some((signer) => signer && isAddressEqual(signer, account))) throw forged()
  return [getAddress(account)]
}

const ALGORITHMS = new Map([
  ['ES256K', 'secp256k1'],
  ['ES256', 'prime256v1'],
  ['EdDSA', 'ed25519'],
  ['Ed25519', 'ed25519'],
])

function isSignedBy(key: KeyObject, { alg, input, signature }: Signing & { format: 'jws' }): boolean {
  const curve = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType
  if (ALGORITHMS.get(alg) !== curve) return false
  return curve === 'ed25519'
    ? verify(null, Buffer.from(input), key, signature)
    : verify('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }, signature)
}
