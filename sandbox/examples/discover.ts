// Asks what can be bought for an intent, and prints what reviewers say of it and how to buy through the best. Beside `npm start`:
//   node scripts/run.mjs sandbox/examples/discover.ts [<what you want>]
import { Money } from '@referrer/protocol'
import { exampleCommand } from '../src/state.ts'
import type { Discovery } from './answers.ts'
import { runningSandbox } from './running.ts'

const { state } = await runningSandbox()
const intent = process.argv.slice(2).join(' ') || 'when does the sun set in Tokyo'
const answer = await fetch(`${state.baseUrl}/v1/discover?${new URLSearchParams({ intent })}`)
const { products }: Discovery = await answer.json()
for (const { name, product_score, price_usdc, reviews } of products) {
  const price = price_usdc === undefined ? 'price not known yet' : `${Money.format(BigInt(price_usdc))} USDC`
  console.log(`${product_score.toFixed(3)}  ${name}, ${price}`)
  for (const { slot, content_json } of reviews ?? []) console.log(`  ${slot}: ${content_json.description}`)
}
const link = products[0]?.reviews?.[0]?.ref_link
if (link) console.log(`\n${exampleCommand('buy', process.env)} ${link}`)
