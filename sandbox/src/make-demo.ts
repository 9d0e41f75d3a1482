// Makes the demo market anew and writes the snapshot that `npm start` restores:
//   node scripts/run.mjs sandbox/src/make-demo.ts

import { writeSnapshot } from './demo/snapshot.ts'
import { makeDemo } from './demo-maker.ts'

const started = Date.now()
const say = (text: string) =>
  console.log(`${((Date.now() - started) / 1_000).toFixed(1).padStart(6)} s  ${text}`)
const snapshot = await makeDemo({ env: process.env, say })
writeSnapshot(snapshot)
say(`${snapshot.calls.length} transactions, ${Object.values(snapshot.rows).flat().length} rows`)
process.exit(0)
