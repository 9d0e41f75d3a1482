import { isInterrupted } from './processes.ts'

export interface Parts {
  /** Names of the parts that failed, with the reason. */
  readonly failed: ReadonlyMap<string, string>
  /** Does the work of one part. When it fails, the error is printed, the program will exit with 1, and the caller goes on with the next part. */
  run<T>(name: string, work: () => Promise<T>): Promise<T | undefined>
}

export function createParts(): Parts {
  const failed = new Map<string, string>()
  return {
    failed,
    async run(name, work) {
      try {
        return await work()
      } catch (error) {
        // After Ctrl-C no further part is wanted.
        if (isInterrupted()) throw error
        const reason = error instanceof Error ? error.message : String(error)
        failed.set(name, reason)
        console.error(`${name} failed: ${reason}`)
        process.exitCode = 1
        return undefined
      }
    },
  }
}
