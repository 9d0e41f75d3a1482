import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { RequestSignature } from '@referrer/protocol'
import { generatePrivateKey } from 'viem/accounts'
import type { Request } from './request.ts'

export type Signers = {
  /** Signs each by an account and at a second that no other one of its kind has. They count for about a minute from now. */
  sign(requests: readonly Request[]): Promise<Request[]>
  close(): Promise<void>
}

/** So many accounts of a thread sign in so many different seconds: a request without a body differs from another in these alone. */
export const ACCOUNTS = 256
export const SECONDS = 30
/** How far ahead of the server's clock the last of these seconds is. */
export const AHEAD_SECONDS = RequestSignature.WINDOW_SECONDS - 5

/** Signing costs more than serving: it is done beforehand, on all cores. */
export function startSigners(): Signers {
  const workers = Array.from(
    { length: availableParallelism() },
    () =>
      new Worker(new URL('./signer.ts', import.meta.url), {
        workerData: Array.from({ length: ACCOUNTS }, () => generatePrivateKey()),
      }),
  )
  return {
    async sign(requests) {
      const share = Math.ceil(requests.length / workers.length)
      const parts = workers.map((worker, at) => done(worker, requests.slice(at * share, (at + 1) * share)))
      return (await Promise.all(parts)).flat()
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

function done(worker: Worker, requests: Request[]): Promise<Request[]> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (signed: Request[]) => {
      worker.off('error', reject)
      resolve(signed)
    })
    worker.postMessage(requests)
  })
}
