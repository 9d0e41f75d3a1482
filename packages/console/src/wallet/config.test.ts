import { expect, it } from 'vitest'
import { chainOf, connectedOf } from './config.ts'

it('knows the chains of our sandboxes and of Base by name, and any other by its number', () => {
  expect([8453, 84532, 31337, 1337].map((id) => chainOf(id).name)).toEqual([
    'Base',
    'Base Sepolia',
    'Hardhat',
    'Localhost',
  ])
  expect(chainOf(42161)).toMatchObject({ id: 42161, name: 'chain 42161', rpcUrls: { default: { http: [] } } })
})

it('signs with a wallet on a chain without a name for that chain', async () => {
  const asked: { method: string; params?: unknown }[] = []
  const request = async (question: { method: string }) => {
    asked.push(question)
    return question.method === 'eth_chainId' ? '0xa4b1' : '0x01'
  }
  const on = () => undefined
  const provider = { request, on, removeListener: on } as never
  const { wallet } = connectedOf('0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 42161, provider)
  await wallet.sendTransaction({ to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })
  expect(asked.map(({ method }) => method)).toEqual(['eth_chainId', 'eth_sendTransaction'])
})
