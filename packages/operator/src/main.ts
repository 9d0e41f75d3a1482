#!/usr/bin/env node
import { failStart } from '@referrer/process'
import { CommandFailed } from './command.ts'
import { runCommand } from './referrer.ts'

if (import.meta.main) {
  const print = (text: string) => void process.stdout.write(text)
  const status = await runCommand(process.argv.slice(2), { env: process.env, print }).catch((error) => {
    if (!(error instanceof CommandFailed)) return failStart(error)
    process.stderr.write(`${error.message}\n`)
    return 1
  })
  // A server goes on running.
  process.exitCode = status
}
