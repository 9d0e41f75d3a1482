import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = join(import.meta.dirname, '..')

/**
 * The files that take longest, longest first: `npm test` prints them at its end. Vitest goes by the size of a file until it has run it
 * once, and the last worker would spend minutes on a small file alone.
 */
export const LONGEST = [
  'packages/console/test/console.long.test.ts',
  'scripts/docs/docs.long.test.ts',
  'sandbox/test/made-anew.long.test.ts',
  'packages/create-referrer-shop/test/create.long.test.ts',
  'packages/signer/test/setup.long.test.ts',
  'packages/service/test/http/properties.long.test.ts',
  'scripts/release/install.long.test.ts',
  'sandbox/test/newcomers.long.test.ts',
  'packages/signer/test/run.long.test.ts',
  'sandbox/test/demo.long.test.ts',
  'packages/signer/test/review-purchase.long.test.ts',
  'packages/signer/test/run-review.long.test.ts',
  'packages/signer/test/setup-command.long.test.ts',
  'packages/facilitator/test/crash/steps.long.test.ts',
  'packages/service/test/torture/indexer.long.test.ts',
  'sandbox/test/agents.long.test.ts',
  'sandbox/test/chat.long.test.ts',
  'sandbox/test/buying.long.test.ts',
  'packages/merchant/test/commands.long.test.ts',
  'packages/service/test/http/bazaar.test.ts',
  'packages/service/test/http/receipts.test.ts',
  'packages/signer/test/hostile.test.ts',
  'sandbox/src/main.test.ts',
  'packages/service/test/oracle/replicas.long.test.ts',
  'packages/service/test/http/receipts-trouble.test.ts',
  'sandbox/test/journey.long.test.ts',
  'packages/service/test/http/oracle.test.ts',
  'packages/service/test/http/conventions.test.ts',
  'packages/facilitator/test/abuse/batches.test.ts',
  'packages/service/test/http/receipts-jws.test.ts',
  'packages/facilitator/test/abuse/reorganisation.test.ts',
  'packages/database/src/failover.long.test.ts',
  'packages/service/test/http/lifecycle.test.ts',
  'packages/service/src/discovery/memory-index/thread.test.ts',
  'packages/operator/src/commands/keys/rotate.long.test.ts',
].map((path) => join(root, path))

/** In the order of the list; the rest follows as it was. */
export function longestFirst<T extends { moduleId: string }>(files: readonly T[]): T[] {
  const placeOf = ({ moduleId }: T) =>
    LONGEST.includes(moduleId) ? LONGEST.indexOf(moduleId) : LONGEST.length
  return files.toSorted((a, b) => placeOf(a) - placeOf(b))
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longestFirst(await super.sort(files))
  }
}
