#!/usr/bin/env node
import { run } from './run.ts'

process.exitCode = await run(process.argv.slice(2), {
  directory: process.cwd(),
  env: process.env,
  isInteractive: process.stdin.isTTY === true && process.stdout.isTTY === true,
  output: { out: (text) => console.log(text), err: (text) => console.error(text) },
})
