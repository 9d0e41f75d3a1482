// Gives gas and USDC to whoever asks: money of the sandbox is worth nothing.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { type Market, mintUsdc } from '@referrer/contracts/local'
import { type Address, erc20Abi, getAddress, isAddress, parseEther } from 'viem'
import { HOST } from './ports.ts'

const GAS = parseEther('1')
const USDC = 100_000_000n
const LARGEST_REQUEST = 1_000

export interface Faucet {
  url: string
  close(): Promise<void>
}

/**
 * `POST {"address"}` fills the address up to 1 ETH and 100 USDC on each chain, and answers what it gave on all of them together:
 * `{address, eth, usdc}`, as decimal text.
 */
export async function startFaucet({
  markets,
  port,
}: {
  markets: readonly Market[]
  port: number
}): Promise<Faucet> {
  // One after another: two gifts to one address at once would read the same balance.
  let last: Promise<unknown> = Promise.resolve()

  async function give(text: unknown) {
    if (typeof text !== 'string' || !isAddress(text, { strict: false })) {
      return { status: 400, answer: { error: 'send {"address": "0x…"}' } }
    }
    const address = getAddress(text)
    const gifts = await Promise.all(markets.map((market) => fill(market, address)))
    const sum = (amounts: bigint[]) => String(amounts.reduce((total, amount) => total + amount, 0n))
    const [eth, usdc] = [sum(gifts.map((gift) => gift.eth)), sum(gifts.map((gift) => gift.usdc))]
    return { status: 200, answer: { address, eth, usdc } }
  }

  async function fill(market: Market, address: Address) {
    const { client, addresses } = market
    const [gas, money] = await Promise.all([
      client.getBalance({ address }),
      client.readContract({
        address: addresses.USDC,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [address],
      }),
    ])
    const eth = gas < GAS ? GAS - gas : 0n
    const usdc = money < USDC ? USDC - money : 0n
    if (eth > 0n) await client.setBalance({ address, value: GAS })
    if (usdc > 0n) await mintUsdc(market, address, usdc)
    return { eth, usdc }
  }

  const server = createServer(async (request, response) => {
    const reply = (status: number, answer: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    if (request.method !== 'POST') return reply(405, { error: 'POST {"address": "0x…"} here' })
    if (Number(request.headers['content-length'] ?? LARGEST_REQUEST + 1) > LARGEST_REQUEST) {
      return reply(413, { error: `at most ${LARGEST_REQUEST} bytes, and say how many` })
    }
    const body = (await json(request).catch(() => undefined)) as { address?: unknown } | undefined
    const gift = last.then(() => give(body?.address))
    last = gift.catch(() => {})
    const { status, answer } = await gift.catch((error) => ({
      status: 500,
      answer: { error: error instanceof Error ? error.message : String(error) },
    }))
    return reply(status, answer)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, HOST, resolve))
  return {
    url: `http://${HOST}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
