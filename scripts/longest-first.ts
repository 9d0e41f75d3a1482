import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = join(import.meta.dirname, '..')

/**
 * The files that take longest, longest first: `npm test` prints them at its end. Vitest goes by the size of a file until it has run it
 * once, and the last worker would spend minutes on a small file alone.
 */
export const LONGEST = [
  'packages/console/test/console.test.ts',
  'scripts/docs/docs.test.ts',
  'sandbox/test/made-anew.test.ts',
  'packages/create-referrer-shop/test/create.test.ts',
  'packages/signer/test/setup.test.ts',
  'packages/service/test/http/properties.test.ts',
  'scripts/release/install.test.ts',
  'sandbox/test/newcomers.test.ts',
  'packages/signer/test/run.test.ts',
  'sandbox/test/demo.test.ts',
  'packages/service/src/app/process.test.ts',
  'sandbox/src/main.test.ts',
  'packages/signer/test/review-purchase.test.ts',
  'packages/signer/test/run-review.test.ts',
  'packages/signer/test/setup-command.test.ts',
  'packages/signer/test/hostile.test.ts',
  'packages/facilitator/test/crash/steps.test.ts',
  'packages/facilitator/test/crash/two.test.ts',
  'packages/service/test/torture/indexer.test.ts',
  'packages/service/test/oracle/replicas.test.ts',
  'sandbox/test/journey.test.ts',
  'sandbox/test/agents.test.ts',
  'sandbox/test/chat.test.ts',
  'sandbox/test/buying.test.ts',
  'packages/merchant/test/commands.test.ts',
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
