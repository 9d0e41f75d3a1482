// Remote signers for tests: real HTTP, keys in memory.
export { startVault, type TestVault } from './vault.ts'
export { startWeb3Signer, type TestWeb3Signer } from './web3signer.ts'
