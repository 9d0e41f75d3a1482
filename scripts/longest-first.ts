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
  'packages/service/test/http/properties.test.ts',
  'packages/console/test/console.test.ts',
  'scripts/docs/docs.test.ts',
  'scripts/release/install.long.test.ts',
  'sandbox/test/newcomers.long.test.ts',
  'packages/signer/test/run.long.test.ts',
  'sandbox/test/demo.long.test.ts',
  'packages/service/src/app/process.test.ts',
  'sandbox/src/main.test.ts',
  'packages/signer/test/review-purchase.long.test.ts',
  'packages/signer/test/run-review.long.test.ts',
  'packages/signer/test/setup-command.long.test.ts',
  'packages/signer/test/hostile.test.ts',
  'packages/facilitator/test/crash/steps.test.ts',
  'packages/facilitator/test/crash/two.test.ts',
  'packages/service/test/torture/indexer.test.ts',
  'packages/service/test/oracle/replicas.test.ts',
  'sandbox/test/journey.test.ts',
  'sandbox/test/agents.long.test.ts',
  'sandbox/test/chat.long.test.ts',
  'sandbox/test/buying.long.test.ts',
  'packages/merchant/test/commands.long.test.ts',
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
