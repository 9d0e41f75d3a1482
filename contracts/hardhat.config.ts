import { createRequire } from 'node:module'
import { defineConfig } from 'hardhat/config'

const require = createRequire(import.meta.url)

export default defineConfig({
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
  test: { solidity: { fuzz: { runs: 256 }, invariant: { runs: 128, depth: 150, failOnRevert: true } } },
})
