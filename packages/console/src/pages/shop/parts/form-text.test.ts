import { describe, expect, it } from 'vitest'
import { sharesOf, typedAddress, typedCommission, typedName, typedPrice, typedUrl } from './form-text.ts'

describe('what a merchant types', () => {
  it('as a name has a letter or a digit', () => {
    expect(typedName('  Jokes of the day ')).toEqual({ value: 'Jokes of the day' })
    expect(typedName('!!!').error).toBeDefined()
    expect(typedName(' ').error).toBeDefined()
    expect(typedName('a'.repeat(201)).error).toBeDefined()
  })

  it('as a price is not below what the market settles', () => {
    expect(typedPrice('0.05', 1_000n)).toEqual({ value: 50_000n })
    expect(typedPrice('0.0005', 1_000n).error).toContain('0.001')
    expect(typedPrice('1e3', 1_000n).error).toBeDefined()
    expect(typedPrice('-1', 0n).error).toBeDefined()
  })

  it('as a commission is a percentage', () => {
    expect(typedCommission('7.5')).toEqual({ value: 750 })
    expect(typedCommission('100.01').error).toBeDefined()
    expect(typedCommission('').error).toBeDefined()
  })

  it('as an address of the web is http without a password', () => {
    expect(typedUrl(' https://shop.example/buy ')).toEqual({ value: 'https://shop.example/buy' })
    for (const text of ['javascript:alert(1)', 'https://a:b@shop.example', 'shop.example', '']) {
      expect(typedUrl(text).error).toBeDefined()
    }
  })

  it('as a wallet has the right checksum, or none', () => {
    const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    expect(typedAddress(wallet)).toEqual({ value: wallet })
    expect(typedAddress(wallet.toLowerCase())).toEqual({ value: wallet })
    expect(typedAddress(wallet.replace('C5', 'c5')).error).toContain('copy it again')
    expect(typedAddress(`0x${'0'.repeat(40)}`).error).toBeDefined()
  })
})

describe('the shares of a sale', () => {
  it('are the price together', () => {
    expect(sharesOf(50_001n, 1_000)).toEqual({ commission: 5_000n, least: 45_001n })
  })
})
