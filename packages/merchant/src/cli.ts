#!/usr/bin/env node
import { runCommand } from './check/command.ts'

process.exitCode = await runCommand(process.argv.slice(2), process.env, {
  out: (text) => console.log(text),
  err: (text) => console.error(text),
})
