import { parentPort, workerData } from 'node:worker_threads'
import { designs } from '../designs.ts'
import { figuresOf } from './figures.ts'
import type { Year } from './pool.ts'
import { runYear } from './run.ts'

const { seed, style, scale, verified, isIgnored, design } = workerData as Year
const chosen = designs.find(({ name }) => name === design)?.design
const trust = { verified, isIgnored, ...(chosen && { design: chosen }) }
parentPort?.postMessage(figuresOf(await runYear({ seed, style, scale, trust }), seed))
