import { describe, expect, it } from 'vitest'
import { addressesIn } from './addresses.ts'

describe('addresses in data of strangers', () => {
  it('are web addresses only, each once, at most five', () => {
    const data = {
      receipt: 'https://shop.test/1',
      again: ['https://shop.test/1', { deep: 'http://other.test/' }],
      bad: [
        'javascript:alert(1)',
        'data:text/html,x',
        'https://',
        'file:///etc/passwd',
        ' https://space.test',
      ],
      many: Array.from({ length: 20 }, (_, index) => `https://many.test/${index}`),
    }
    const found = addressesIn(data)
    expect(found).toHaveLength(5)
    expect(found.slice(0, 2)).toEqual(['https://shop.test/1', 'http://other.test/'])
    expect(found.every((url) => /^https?:\/\/\w/.test(url))).toBe(true)
  })

  it('are not looked for without end', () => {
    let data: unknown = 'https://deep.test/'
    for (let depth = 0; depth < 50; depth++) data = [data]
    expect(addressesIn(data)).toEqual([])
  })
})
