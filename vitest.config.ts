import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import * as settings from './sandbox/src/settings.ts'
import { LongestFirst } from './scripts/longest-first.ts'

// Most of a short process is reading modules: the workers, and what the tests start, share what was compiled.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/referrer-compiled')

// RULES_SETTINGS=sandbox: the test markets of the service have the settings of `npm start`.
if (process.env.RULES_SETTINGS === 'sandbox') process.env.TEST_MARKET = JSON.stringify(settings)

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', 'contracts/artifacts/**', 'contracts/cache/**'],
    setupFiles: ['scripts/untouched-globals.ts'],
    globalSetup: ['packages/database/src/test-server.ts'],
    pool: 'forks',
    // Tests wait for chains, databases and programs at times: a third worker uses what two leave idle on two cores. A fourth made nothing quicker.
    maxWorkers: 3,
    // Files share what their worker has imported, which takes a third of the time otherwise: no test may leave anything behind.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Node runs TypeScript as it is written: nothing has to be transformed, and no test replaces modules.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A busy machine may hold up for seconds what takes milliseconds.
    expect: { poll: { timeout: 20_000 } },
  },
})
