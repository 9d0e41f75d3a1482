// An account whose key is somewhere else. Whatever comes back is checked against its address before anybody uses it.
import {
  type Address,
  bytesToHex,
  concat,
  type Hex,
  hexToBytes,
  isAddressEqual,
  keccak256,
  type LocalAccount,
  numberToHex,
  recoverAddress,
  type SignableMessage,
  type Signature,
  serializeSignature,
  serializeTransaction,
  size,
  stringToBytes,
} from 'viem'
import { toAccount } from 'viem/accounts'
import { SignerError } from './error.ts'

/** The order of secp256k1. Chains take only the lower half of the possible `s` (EIP-2). */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/**
 * `sign` gets bytes and signs their keccak256. It may answer r and s as DER or one after the other, with or without a recovery id behind
 * them, and with a high `s`.
 */
export function remoteAccount(address: Address, sign: (preimage: Hex) => Promise<Hex>): LocalAccount {
  async function signed(preimage: Hex): Promise<Signature> {
    return signatureOf(address, keccak256(preimage), await sign(preimage))
  }

  return toAccount({
    address,
    signMessage: async ({ message }) => serializeSignature(await signed(prefixed(message))),
    async signTransaction(transaction, { serializer = serializeTransaction } = {}) {
      const unsigned = await serializer(transaction)
      return serializer(transaction, await signed(unsigned))
    },
    async signTypedData() {
      throw new SignerError(`no typed data is signed for ${address}: its key sends transactions only`)
    },
  })
}

/** The one of the signatures that the bytes can stand for whose signer is `address`. Throws a `SignerError` if there is none. */
export async function signatureOf(address: Address, hash: Hex, answer: Hex): Promise<Signature> {
  for (const { r, s } of [...fromPair(answer), ...fromDer(answer)]) {
    if (r <= 0n || r >= ORDER || s <= 0n || s >= ORDER) continue
    const low = s > ORDER / 2n ? ORDER - s : s
    for (const yParity of [0, 1]) {
      const signature = { r: numberToHex(r, { size: 32 }), s: numberToHex(low, { size: 32 }), yParity }
      const signer = await recoverAddress({ hash, signature }).catch(() => undefined)
      if (signer && isAddressEqual(signer, address)) return signature
    }
  }
  throw new SignerError(`the signer's answer is not a signature of ${address}; it is not used`)
}

interface Pair {
  r: bigint
  s: bigint
}

const whole = (bytes: Uint8Array) => BigInt(bytesToHex(bytes))

/** r, s, and perhaps a recovery id, which is not looked at. */
function fromPair(answer: Hex): Pair[] {
  if (size(answer) !== 64 && size(answer) !== 65) return []
  const bytes = hexToBytes(answer)
  return [{ r: whole(bytes.subarray(0, 32)), s: whole(bytes.subarray(32, 64)) }]
}

/** SEQUENCE { INTEGER r, INTEGER s } */
function fromDer(answer: Hex): Pair[] {
  const bytes = hexToBytes(answer)
  if (bytes[0] !== 0x30 || bytes[1] !== bytes.length - 2) return []
  const r = integerAt(bytes, 2)
  const s = r && integerAt(bytes, r.end)
  return r && s && s.end === bytes.length ? [{ r: r.value, s: s.value }] : []
}

function integerAt(bytes: Uint8Array, at: number): { value: bigint; end: number } | undefined {
  const length = bytes[at + 1] ?? 0
  const end = at + 2 + length
  if (bytes[at] !== 0x02 || length === 0 || length > 33 || end > bytes.length) return undefined
  return { value: whole(bytes.subarray(at + 2, end)), end }
}

/** What EIP-191 hashes. */
function prefixed(message: SignableMessage): Hex {
  const bytes =
    typeof message === 'string'
      ? stringToBytes(message)
      : typeof message.raw === 'string'
        ? hexToBytes(message.raw)
        : message.raw
  const prefix = stringToBytes(`\x19Ethereum Signed Message:\n${bytes.length}`)
  return concat([bytesToHex(prefix), bytesToHex(bytes)])
}
