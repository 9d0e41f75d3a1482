export {
  type ContractCall,
  merchantCall,
  refusalOf,
  SETTLEMENT_SIGNER_ROLE,
  sendCall,
} from './calls.ts'
export {
  type Deployment,
  DeploymentError,
  type DeploymentOptions,
  marketUrlOf,
  readDeployment,
} from './deployment.ts'
export { askFaucet, type Gift } from './faucet.ts'
export { identityIn, type Registered, registerIdentity } from './identity.ts'
export { NETWORKS, type Network, networkNamed } from './networks.ts'
export { parsePercent, productIdOf, slugOf } from './products.ts'
