import { readContract } from '@referrer/chain'
import { createCache } from '@referrer/process'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import type { Hex } from 'viem'
import { type Chain, type Context, oncePerProcess } from '../../kit/context.ts'
import { bestEffort } from '../../kit/onchain.ts'

/** Both in seconds. */
interface Fallback {
  delay: number
  /** When the contract's last pause ended: the delay begins anew. */
  resumedAt: number
}

interface Contract {
  chain: Chain
  address: Hex
}

const KEPT_MS = 60_000
/** So long nobody asks again after a failure, because a node that is down would delay every answer. */
const FAILED_MS = 5_000

const readFallback = oncePerProcess(({ clock }) =>
  createCache<Contract, Fallback | undefined>({
    keyOf: ({ chain, address }) => `${chain.config.chainId}/${address}`,
    load: ({ chain, address }) =>
      bestEffort(chain, async (options) => {
        const read = (functionName: 'FALLBACK_DELAY' | 'resumedAt') =>
          readContract(chain, { address, abi: commissionEscrowAbi, functionName, args: [] }, options)
        const [delay, resumedAt] = await Promise.all([read('FALLBACK_DELAY'), read('resumedAt')])
        return { delay: Number(delay), resumedAt: Number(resumedAt) }
      }),
    ttlMs: (found) => (found ? KEPT_MS : FAILED_MS),
    clock,
    max: 100,
  }),
)

/** When anybody may settle an escrow of this contract; null: the chain cannot be read. */
export async function fallbackAt(
  context: Context,
  contract: Contract,
  windowEnd: Date,
): Promise<Date | null> {
  const found = await readFallback(context)(contract)
  if (!found) return null
  return new Date((Math.max(windowEnd.getTime() / 1_000, found.resumedAt) + found.delay) * 1_000)
}
