// The vectors of a large chain are grouped into cells around points. One replica chooses the points, in a thread of
// its own because it takes long, and all replicas read them; a replica that sees new points loads its catalogues
// again.
import { Worker } from 'node:worker_threads'
import type { Model } from './records.ts'

/** With fewer vectors a search compares all of them, without cells. */
const FEW = 5_000

export interface CellsData {
  databaseUrl: string
  embedderId: string
  chainIds: readonly number[]
}

export interface CellKeeper {
  /** Starts the choice of cells for chains that have none, or twice as many vectors as at their last choice. Returns whether there are any. */
  look(model: Model, vectors: ReadonlyMap<number, number>): boolean
  stop(): void
}

export function createCellKeeper(databaseUrl: string, onFailed: (error: unknown) => void): CellKeeper {
  let choosing: Worker | undefined
  return {
    look({ embedderId, cells }, vectors) {
      const isDue = (chainId: number, count: number) =>
        count >= FEW && count >= 2 * (cells.get(chainId)?.vectors ?? 0)
      const chainIds = [...vectors].flatMap(([chainId, count]) => (isDue(chainId, count) ? chainId : []))
      if (embedderId === undefined || chainIds.length === 0) return false
      if (choosing) return true
      const data: CellsData = { databaseUrl, embedderId, chainIds }
      choosing = new Worker(new URL('./cells-thread.ts', import.meta.url), { workerData: data })
      choosing.once('error', onFailed)
      choosing.once('exit', () => {
        choosing = undefined
      })
      return true
    },
    stop() {
      void choosing?.terminate()
    },
  }
}
