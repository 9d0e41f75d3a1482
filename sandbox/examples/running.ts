import { dirname } from 'node:path'
import { isRunning, readState, type SandboxState, statePath } from '../src/state.ts'

/** The sandbox that runs: by `SANDBOX_DIR` or `PORT_OFFSET`, as it was started. Says so and ends where none does. */
export async function runningSandbox(): Promise<{ state: SandboxState; directory: string }> {
  const path = statePath(process.env)
  const state = readState(path)
  if (state && (await isRunning(state))) return { state, directory: dirname(path) }
  console.error(
    'no sandbox runs: start one with npm start, wait for "sandbox ready", and try again with the same PORT_OFFSET',
  )
  process.exit(1)
}
