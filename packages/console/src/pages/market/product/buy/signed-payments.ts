// Signed payments are kept in the browser until their end is known: who reloads the page goes on with the same one and never pays twice.

export interface SignedPayment {
  chainId: number
  payer: string
  token: string
  query: Record<string, string>
  /** USDC base units. */
  amount: string
  nonce: string
  /** Unix seconds. */
  validBefore: number
  /** The value of the header PAYMENT-SIGNATURE. */
  header: string
}

export interface PaymentKey {
  chainId: number
  payer: string
  merchantId: number
  productId: string
}

const nameOf = ({ chainId, payer, merchantId, productId }: PaymentKey): string =>
  `referrer.payment.${chainId}.${payer}.${merchantId}.${productId}`.toLowerCase()

const TEXTS = ['payer', 'token', 'amount', 'nonce', 'header'] as const

export function loadPayment(storage: Storage, key: PaymentKey): SignedPayment | undefined {
  try {
    const kept = JSON.parse(storage.getItem(nameOf(key)) ?? 'null')
    const isWhole =
      TEXTS.every((field) => typeof kept?.[field] === 'string') && Number.isSafeInteger(kept.validBefore)
    return isWhole ? { ...kept, query: Object(kept.query) } : undefined
  } catch {
    return undefined
  }
}

export const keepPayment = (storage: Storage, key: PaymentKey, payment: SignedPayment): void =>
  storage.setItem(nameOf(key), JSON.stringify(payment))

export const forgetPayment = (storage: Storage, key: PaymentKey): void => storage.removeItem(nameOf(key))
