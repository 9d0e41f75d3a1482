import { dirname } from 'node:path'
import { isRunning, readState, type SandboxState, statePath } from '../src/state.ts'

/** The sandbox that runs: by `SANDBOX_DIR` or `PORT_OFFSET`, as it was started. Says so and ends where none does. */
export async function runningSandbox(): Promise<{ state: SandboxState; directory: string }> {
  const path = pathOfState()
  const state = readState(path)
  if (state && (await isRunning(state))) return { state, directory: dirname(path) }
  return fail(
    'no sandbox runs: start one with npm start, wait for "sandbox ready", and try again with the same PORT_OFFSET',
  )
}

function pathOfState(): string {
  try {
    return statePath(process.env)
  } catch (error) {
    return fail((error as Error).message)
  }
}

/** What whoever runs an example has to know, in one line. */
export function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
