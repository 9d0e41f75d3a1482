/** The key of a product: merchant id and product id in hex digits. Keys sort in the order of the ids. */
export function keyOf(merchantId: bigint, productId: Uint8Array | `0x${string}`): string {
  if (typeof productId === 'string')
    return merchantId.toString(16).padStart(16, '0') + productId.slice(2).toLowerCase()
  // Made at once: a string of parts would keep each of them in memory.
  const bytes = Buffer.alloc(8 + productId.length)
  bytes.writeBigUInt64BE(merchantId)
  bytes.set(productId, 8)
  return bytes.toString('hex')
}

export function readKey(key: string): { merchantId: bigint; productId: Buffer } {
  return { merchantId: BigInt(`0x${key.slice(0, 16)}`), productId: Buffer.from(key.slice(16), 'hex') }
}
