// A worker thread that computes the standings of one market, then ends.
import { parentPort, workerData } from 'node:worker_threads'
import { type Spending, standingOf } from '@referrer/ranking'

const standing = standingOf(workerData as Spending)
parentPort?.postMessage(standing, [
  standing.owners.buffer as ArrayBuffer,
  standing.shops.buffer as ArrayBuffer,
])
