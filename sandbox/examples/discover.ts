// Asks what can be bought for an intent, and prints what reviewers say of it, with the links to buy through. Beside `npm start`:
//   node scripts/run.mjs sandbox/examples/discover.ts [<what you want>]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Money } from '@referrer/protocol'
import type { Discovery } from './answers.ts'

const state = JSON.parse(readFileSync(join(process.env.SANDBOX_DIR ?? '.sandbox', 'state.json'), 'utf8'))
const intent = process.argv.slice(2).join(' ') || 'what time is sunset in Tokyo'
const answer = await fetch(`${state.baseUrl}/v1/discover?${new URLSearchParams({ intent })}`)
const { products }: Discovery = await answer.json()
for (const { name, product_score, price_usdc, reviews } of products) {
  const price = price_usdc === undefined ? 'price unknown' : `${Money.format(BigInt(price_usdc))} USDC`
  console.log(`${name} (${product_score.toFixed(3)}), ${price}`)
  for (const { slot, content_json, ref_link } of reviews ?? [])
    console.log(`  ${slot}: ${content_json.description}\n    ${ref_link}`)
}
