/** The key of a product: merchant id and product id in hex digits. Keys sort in the order of the ids. */
export function keyOf(merchantId: bigint, productId: Uint8Array | `0x${string}`): string {
  const product =
    typeof productId === 'string' ? productId.slice(2).toLowerCase() : Buffer.from(productId).toString('hex')
  return merchantId.toString(16).padStart(16, '0') + product
}

export function readKey(key: string): { merchantId: bigint; productId: Buffer } {
  return { merchantId: BigInt(`0x${key.slice(0, 16)}`), productId: Buffer.from(key.slice(16), 'hex') }
}
