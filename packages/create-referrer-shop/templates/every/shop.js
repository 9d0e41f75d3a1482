// Joins product.js to the market: referrer.json says which one, .env has the key that asks for settlements.
import { readFileSync } from 'node:fs'
import { createPaymentMemory, createReferralEndpoint } from '@referrer/merchant'
import { fileStore } from '@referrer/merchant/node'
import { description, price, serve } from './product.js'

const shop = JSON.parse(readFileSync('referrer.json', 'utf8'))
const product = shop.products['{{slug}}']

export const port = Number(process.env.PORT ?? 3000)
/** 0.0.0.0 lets others in. */
export const hostname = process.env.HOST ?? '127.0.0.1'

export const endpoint = createReferralEndpoint({
  chainId: shop.chainId,
  rpcUrl: shop.rpc,
  addressRegistry: shop.addressRegistry,
  facilitatorUrl: shop.facilitator,
  setupUrl: `${shop.market}/.well-known/referrer-agent`,
  merchantId: shop.merchantId,
  signingKey: process.env.MERCHANT_SIGNING_KEY,
  // Who has paid is served, also after a crash. Several processes, or a host without a lasting disk, need a store that they share.
  payments: createPaymentMemory({ store: fileStore('payments.log') }),
  product: { id: product.id, description },
  publicUrl: product.endpoint,
  price,
  serve,
  onEvent: (event) => console.log(event),
})
