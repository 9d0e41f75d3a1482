#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { runCommands } from './commands/run.ts'
import { PROJECT_FILE } from './shop/index.ts'

// The hot key of the shop in this folder, for `check`. What is set already stays.
if (existsSync(PROJECT_FILE) && existsSync('.env')) process.loadEnvFile('.env')

process.exitCode = await runCommands(
  process.argv.slice(2),
  {
    directory: process.cwd(),
    env: process.env,
    isInteractive: process.stdin.isTTY === true && process.stdout.isTTY === true,
  },
  { out: (text) => console.log(text), err: (text) => console.error(text) },
)
