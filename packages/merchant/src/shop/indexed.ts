import { ReferrerError } from '@referrer/client'
import { ShopError } from './report.ts'

const TRY_MS = 500
const MOST_TRIES = 60

/** What was put on the chain a moment ago is not found before the market has read the block. */
export async function onceIndexed<T>(read: () => Promise<T>, problem: string): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read()
    } catch (error) {
      if (!isRefusal(error, 404)) throw error
      if (tries === MOST_TRIES) throw new ShopError(problem)
      await new Promise((resolve) => setTimeout(resolve, TRY_MS))
    }
  }
}

export const isRefusal = (error: unknown, status: number): boolean =>
  error instanceof ReferrerError && error.status === status
