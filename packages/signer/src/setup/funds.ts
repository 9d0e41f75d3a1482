// What a wallet has and needs, and the faucet of a sandbox.
import { askFaucet, type Deployment } from '@referrer/client/chain'
import { Money } from '@referrer/protocol'
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import { type Address, formatEther, parseEther } from 'viem'
import type { Chain } from '../chain/chain.ts'
import type { Context } from '../context.ts'
import type { Step } from './steps.ts'

const SANDBOX_CHAIN = 31_337
const MAX_FAUCET_BYTES = 16 * 1024
/** Enough for a registration on a busy day, and for what to ask of an owner. */
const LEAST_ETH = parseEther('0.0001')
const USUAL_ETH = '0.001 ETH'
const USUAL_USDC = '5 USDC'

interface Balances {
  eth: bigint
  usdc: bigint
}

/** `fund`: whether to ask the faucet; by default in a sandbox only. */
export async function fund(
  context: Context,
  chain: Chain,
  deployment: Deployment,
  { address, fund: isWanted }: { address: Address; fund: boolean | undefined },
): Promise<Step[]> {
  const { contracts, faucetUrl, leastAmount } = deployment
  const read = () => balancesOf(chain, contracts.USDC, address)
  const before = await read()
  let now = before
  let problem = ''
  const isLow = before.eth < LEAST_ETH || before.usdc < leastAmount
  if (isLow && faucetUrl && (isWanted ?? chain.chainId === SANDBOX_CHAIN)) {
    try {
      await askFaucet(faucetUrl, address, faucetFetch(context, chain))
      now = await read()
    } catch (error) {
      problem = `, since ${(error as Error).message}`
    }
  }
  const stateOf = (isEnough: boolean, isMore: boolean) => {
    if (!isEnough) return 'waiting'
    return isMore ? 'did' : 'done'
  }
  const hasGas = now.eth >= LEAST_ETH
  const hasUsdc = now.usdc >= leastAmount && now.usdc > 0n
  return [
    {
      step: 'gas',
      state: stateOf(hasGas, now.eth > before.eth),
      about: hasGas
        ? `${formatEther(now.eth)} ETH`
        : `fund ${address} with ${USUAL_ETH} on chain ${chain.chainId}, for gas${problem}`,
    },
    {
      step: 'usdc',
      state: stateOf(hasUsdc, now.usdc > before.usdc),
      about: hasUsdc
        ? `${Money.format(now.usdc)} USDC`
        : `fund ${address} with USDC (${contracts.USDC}) on chain ${chain.chainId}, such as ${USUAL_USDC}, to buy${problem}`,
    },
  ]
}

/** The marketplace names the faucet: only that of a sandbox may be in a private network. */
const faucetFetch =
  ({ get, timeouts }: Context, { chainId }: Chain): typeof fetch =>
  async (url, init) => {
    const { status, body } = await get(new URL(String(url)), {
      body: String(init?.body),
      headers: { 'content-type': 'application/json' },
      timeoutMs: timeouts.answer,
      maxBytes: MAX_FAUCET_BYTES,
      isOurs: chainId === SANDBOX_CHAIN,
    })
    return new Response(new Uint8Array(body), { status })
  }

async function balancesOf({ client }: Chain, usdc: Address, address: Address): Promise<Balances> {
  const [eth, money] = await Promise.all([
    client.getBalance({ address }),
    client.readContract({ address: usdc, abi: sandboxUSDCAbi, functionName: 'balanceOf', args: [address] }),
  ])
  return { eth, usdc: money }
}
