// Vectors of a chain that has many are grouped around points. One replica chooses these, in a thread of their own since that takes long,
// and all read them; whoever sees others than it has loads its shelves anew.
import { Worker } from 'node:worker_threads'
import type { Model } from './records.ts'

/** So few are looked at one by one. */
const FEW = 5_000

export interface CellsData {
  databaseUrl: string
  embedderId: string
  chainIds: readonly number[]
}

export interface CellKeeper {
  /** Has cells chosen for chains that lack them, or have twice as many vectors as theirs were chosen for. */
  look(model: Model, vectors: ReadonlyMap<number, number>): void
  stop(): void
}

export function createCellKeeper(databaseUrl: string, onFailed: (error: unknown) => void): CellKeeper {
  let choosing: Worker | undefined
  return {
    look({ embedderId, cells }, vectors) {
      const isDue = (chainId: number, count: number) =>
        count >= FEW && count >= 2 * (cells.get(chainId)?.vectors ?? 0)
      const chainIds = [...vectors].flatMap(([chainId, count]) => (isDue(chainId, count) ? chainId : []))
      if (embedderId === undefined || chainIds.length === 0 || choosing) return
      const data: CellsData = { databaseUrl, embedderId, chainIds }
      choosing = new Worker(new URL('./cells-thread.ts', import.meta.url), { workerData: data })
      choosing.once('error', onFailed)
      choosing.once('exit', () => {
        choosing = undefined
      })
    },
    stop() {
      void choosing?.terminate()
    },
  }
}
