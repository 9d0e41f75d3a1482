// Owners who set caps again and again, each time a higher one, and read what they set: from any of the API processes.
import { createReferrerClient, ReferrerError } from '@referrer/client'
import type { HDAccount } from 'viem/accounts'
import { Retryable, type Tally, untilDone } from './tally.ts'

const GIVE_UP_MS = 120_000
/** Between two writes of an owner. */
const PAUSE_MS = 200

export interface Writes {
  /** What each owner was last told to be stored. */
  acknowledged: Map<HDAccount, number>
  /** What an owner read that was lower than what he had been told. */
  stale: string[]
  run(until: () => boolean): Promise<void>
}

export function createWrites(
  owners: readonly HDAccount[],
  { chainId, api, tallies }: { chainId: number; api: typeof fetch; tallies: { write: Tally; read: Tally } },
): Writes {
  const acknowledged = new Map<HDAccount, number>()
  const stale: string[] = []

  async function writeAndRead(owner: HDAccount, until: () => boolean): Promise<void> {
    const market = createReferrerClient({
      url: 'http://market',
      account: owner,
      chainId,
      fetch: api,
      retries: 0,
    })
    for (let cap = 1; !until(); cap += 1) {
      const body = { chain_id: chainId, per_tx_cap_usdc: cap, daily_cap_usdc: 10 * cap, total_cap_usdc: null }
      const isStored = await untilDone(
        tallies.write,
        () =>
          market
            .post('/v1/spending-limits', { body })
            .then(() => true)
            .catch(retryable),
        { giveUpMs: GIVE_UP_MS },
      )
      if (isStored) acknowledged.set(owner, cap)
      const read = await untilDone(
        tallies.read,
        () =>
          market.get('/v1/spending-limits', { params: { query: { chain_id: chainId } } }).catch(retryable),
        { giveUpMs: GIVE_UP_MS },
      )
      const seen = capIn(read)
      if (isStored && seen !== undefined && seen < cap)
        stale.push(`${owner.address} set ${cap} and read ${seen}`)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }

  return {
    acknowledged,
    stale,
    run: async (until) => void (await Promise.all(owners.map((owner) => writeAndRead(owner, until)))),
  }
}

/** Makes what a market says that is not itself for a moment, or that did not answer, a `Retryable`. */
export function retryable(error: unknown): never {
  if (!(error instanceof ReferrerError)) throw error
  const { status, reason } = error
  if (status === 0) throw new Retryable(reason)
  if (status === 429 || status >= 500) throw new Retryable(`HTTP ${status}`)
  throw error
}

const capIn = (answer: unknown): number | undefined => {
  const text = JSON.stringify(answer) ?? ''
  const found = /"per_tx_cap_usdc":(\d+)/.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}
