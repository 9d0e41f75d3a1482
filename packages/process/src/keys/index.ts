export {
  findAccountProblems,
  findKeyProblems,
  type KeysConfig,
  keysConfigOf,
  keyVariables,
  type OwnAccount,
  ownAccounts,
} from './config.ts'
export { SignerError } from './error.ts'
export type { KeyModule, KmsKey } from './kms.ts'
export { openSigners, type Signers } from './signers.ts'
export { openTransitKey, type TransitKey, type VaultConfig } from './vault-transit.ts'
