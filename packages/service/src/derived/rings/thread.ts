// The thread that looks for rings, so that requests do not wait for it: see find.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { type Dealings, ringsIn } from '@referrer/ranking'

parentPort?.postMessage(ringsIn(workerData as Dealings))
