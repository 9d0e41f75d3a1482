#!/usr/bin/env node
import { run } from './main.ts'

const OLDEST_NODE = 20
if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `The signer needs Node ${OLDEST_NODE} or newer, and this is ${process.versions.node}.\n`,
  )
  process.exitCode = 1
} else await run()
