// The service alone, as a process of its own; `referrer serve`, which is above this package, starts it in deployments.
import { failStart, runUntilSignal } from '@referrer/process'
import { readConfig } from './config.ts'
import { type Overrides, startService } from './service.ts'

export async function runService(overrides: Overrides = {}): Promise<void> {
  const start = (signal: AbortSignal) => startService(readConfig(process.env), { ...overrides, signal })
  const { url, context } = await runUntilSignal(start)
  process.stdout.write(`referrer service ready on ${url}, chains ${[...context.chains.keys()].join(', ')}\n`)
}

if (import.meta.main) await runService().catch(failStart)
