import type { Transaction } from '@referrer/database'
import type { ProductKey } from './store.ts'

export async function queueTexts(
  _tx: Transaction,
  _chainId: number,
  _products: readonly ProductKey[],
): Promise<void> {}
