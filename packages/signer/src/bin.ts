#!/usr/bin/env node
import { run } from './main.ts'

await run()
