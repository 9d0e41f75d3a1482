import { describe, expect, it } from 'vitest'
import { svgOf } from './picture.ts'
import { subjectOf } from './subjects.ts'

const PRODUCT = `0x${'ab'.repeat(32)}`
const product = {
  merchant_id: 0,
  chain_id: 1,
  product_id: PRODUCT,
  name: 'Daylight',
  description: 'When the sun rises',
  category: 'api',
  commission_bps: 1_000,
  product_type: 'Repeat',
  product_rank: 0.681,
}

describe('the subject of a picture', () => {
  it('is a product by its ids in either case, with its price where the list has it', () => {
    const subject = subjectOf(`/preview/product/0/0x${'AB'.repeat(32)}.png`)
    expect(subject?.key).toBe(`product 0 ${PRODUCT}`)
    const alone = subject?.draw([product, { products: [] }])
    expect(alone).toContain('>Daylight<')
    expect(alone).not.toContain('USDC')
    const card = { ...product, price_usdc: 10_000, review_count: 11, sales_count: 14 }
    expect(subject?.draw([undefined, { products: [card] }])).toContain('>0.01 USDC<')
    expect(subject?.draw([undefined, { products: [] }])).toBeUndefined()
  })

  it.each([
    '/preview/market.svg',
    '/preview/reviewer/x.png',
    '/preview/reviewer/01.png',
    '/preview/escrow/1.png/..',
    '/preview/product/0/0x1.png',
    `/preview/product/-1/${PRODUCT}.png`,
  ])('is nothing at %s', (path) => expect(subjectOf(path)).toBeUndefined())
})

it('a picture has text of strangers as text only', () => {
  const svg = svgOf({
    kicker: '<a>',
    title: `</text><script>alert(1)</script>&"'`,
    text: ']]><image href="http://x.test"/>',
    facts: [['<b>', '"><rect/>']],
  })
  expect(svg).not.toMatch(/<script|<image|<b>|<a>/)
  expect(svg).toContain('&lt;/text&gt;&lt;script&gt;')
})
