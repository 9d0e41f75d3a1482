import { createRequire } from 'node:module'
import { defineConfig } from 'hardhat/config'
import type { HardhatPlugin } from 'hardhat/types/plugins'

const require = createRequire(import.meta.url)

/** Sequences of 150 calls each. Hardhat's seed is fixed: every run has the same ones, so raise it for a change to the contracts. */
const INVARIANT_RUNS = Number(process.env.INVARIANT_RUNS ?? 32)

/** Tests deploy the artifacts that were compiled for production, so their own build compiles the tests alone, unoptimised: a tenth of the work. */
const plainTests: HardhatPlugin = {
  id: 'plain-tests',
  hookHandlers: {
    solidity: async () => ({
      default: async () => ({
        preprocessSolcInputBeforeBuilding(context, input, next) {
          const tests = Object.keys(input.sources).filter((name) => name.startsWith('project/test/'))
          if (tests.length === 0) return next(context, input)
          const { '*': wanted = [], ...more } = input.settings.outputSelection['*'] ?? {}
          // Nobody reads the instructions in words, and writing them takes a tenth of the time.
          const read = { ...more, '*': wanted.filter((output) => !output.endsWith('.opcodes')) }
          const outputSelection = Object.fromEntries(tests.map((name) => [name, read]))
          const plain = { viaIR: false, optimizer: { enabled: false }, outputSelection }
          return next(context, { ...input, settings: { ...input.settings, ...plain } })
        },
      }),
    }),
  },
}

export default defineConfig({
  plugins: [plainTests],
  solidity: {
    splitTestsCompilation: true,
    version: '0.8.37',
    path: require.resolve('solc/soljson.js'),
    settings: {
      evmVersion: 'cancun',
      viaIR: true,
      optimizer: { enabled: true, runs: 1_000_000 },
      metadata: { bytecodeHash: 'none' },
    },
  },
  paths: { sources: './src', tests: { solidity: './test' } },
  test: {
    solidity: { fuzz: { runs: 256 }, invariant: { runs: INVARIANT_RUNS, depth: 150, failOnRevert: true } },
  },
})
