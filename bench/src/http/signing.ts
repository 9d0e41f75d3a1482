import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { RequestSignature } from '@referrer/protocol'
import { generatePrivateKey } from 'viem/accounts'
import type { Request } from './request.ts'

export type Signers = {
  /** Signs each request with an account and second that no other one has. The signatures are valid for about a minute. */
  sign(requests: readonly Request[]): Promise<Request[]>
  close(): Promise<void>
}

/** Accounts of a thread, and different seconds that each signs in: requests without a body differ in these alone. */
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
